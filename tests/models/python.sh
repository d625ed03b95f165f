# python.sh -- runs SCRIPT [ARG..] by a Python that has what the tests of models need, or skips.
#
# HONE_PYTHON names one; python3 by default.
python=${HONE_PYTHON:-python3}
folder=$(dirname "$0")
if ! why=$("$python" -c 'import numpy, onnx, onnxruntime' 2>&1); then
	echo "skip: $python has not all of numpy, onnx, onnxruntime: ${why##*
}"
	echo "skip: to set HONE_PYTHON to one that has may help"
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
script=$1
shift
exec "$python" "$folder/$script" "$@"
