# onnx.sh -- hone's operators against the cases that the onnx package brings, or skips.
#
# HONE_PYTHON names a Python that has numpy and onnx; python3 by default.  Arguments are words that
# names of cases have; none = all cases.
python=${HONE_PYTHON:-python3}
if ! why=$("$python" -c 'import numpy, onnx.backend.test' 2>&1); then
	echo "skip: $python has not both numpy and onnx: ${why##*
}"
	echo "skip: to set HONE_PYTHON to one that has may help"
	exit 77
fi
PYTHONDONTWRITEBYTECODE=1 exec "$python" "$(dirname "$0")/onnx_cases.py" "$@"
