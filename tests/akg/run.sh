# run.sh -- fused operators of AKG, compiled, against numpy: hone's own, and those of HONE_CASES whose
# tensors have no more than 100,000 elements.  Skips where no Python has numpy.
#
# HONE_PYTHON names one; python3 by default.
python=${HONE_PYTHON:-python3}
if ! why=$("$python" -c 'import numpy' 2>&1); then
	echo "skip: $python has no numpy: ${why##*
}"
	exit 77
fi
set -- "$HONE_SOURCE"/tests/data/fuzz/akg/*
if [ -d "${HONE_CASES-}/akg" ]; then
	set -- "$@" "$HONE_CASES"/akg/*.info* "$HONE_CASES"/akg/*.json
else
	echo "no cases here: -DHONE_CASES=DIR names a folder with akg/ in it"
fi
HONE_HOME=$(mktemp -d) || exit 1
trap 'rm -rf "$HONE_HOME"' EXIT
export HONE_HOME PYTHONDONTWRITEBYTECODE=1
"$python" "$(dirname "$0")/run.py" --hone "$HONE_BIN/hone" --most 100000 "$@"
