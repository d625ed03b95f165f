# cases.sh MODULES SCRIPT [ARG..] -- hone's operators against those of others, by Python, or skips.
#
# HONE_PYTHON names a Python that has the modules; python3 by default.  Further arguments of
# onnx_cases.py are words that names of cases have; none = all cases.
python=${HONE_PYTHON:-python3}
if ! why=$("$python" -c "import $1" 2>&1); then
	echo "skip: $python has not all of $1: ${why##*
}"
	echo "skip: to set HONE_PYTHON to one that has may help"
	exit 77
fi
script=$(dirname "$0")/$2
shift 2
PYTHONDONTWRITEBYTECODE=1 exec "$python" "$script" "$@"
