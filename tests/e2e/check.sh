# check.sh -- `hone check`: each kernel of a network is run against the reference, automatic ones and
# those of records; one that is wrong is named with its first wrong element, and the others are
# judged all the same.
. "$(dirname "$0")/lib.sh"
: "${HONE_COMPILE_MAKE:?}"

"$HONE_COMPILE_MAKE" "$work/small.onnx" && "$HONE_COMPILE_MAKE" "$work/open.onnx" batch ||
	die "no models"

# No store yet: every kernel is scheduled automatically.
hone check "$work/small.onnx" >"$work/table" 2>"$work/said" || die "$(cat "$work/said" "$work/table")"
[ "$(grep -c '^k0[0-9]_.* automatic  *[1-9].* right$' "$work/table")" = 5 ] || die "$(cat "$work/table")"
grep -q "^5 steps of 5 kernels: 5 right, largest error [0-9.e-]* of k0" "$work/table" || die "$(cat "$work/table")"
grep -q "^layouts and fusion: 5 of 5 steps have their nodes' numbers, largest difference 0$" "$work/table" ||
	die "$(cat "$work/table")"
[ ! -s "$work/said" ] || die "said: $(cat "$work/said")"
hone check "$work/open.onnx" --dim batch=3 >"$work/table" 2>&1 || die "$(cat "$work/table")"

# Records are run too, though they were checked when they were measured.
hone tune --fusion rules "$work/small.onnx" --trials 40 --quiet >/dev/null 2>"$work/said" || die "tune: $(cat "$work/said")"
hone check "$work/small.onnx" >"$work/table" 2>&1 || die "$(cat "$work/table")"
grep -q '^k0[0-9]_.* record [0-9]*  *[1-9].* right$' "$work/table" || die "$(cat "$work/table")"
hone check --auto "$work/small.onnx" >"$work/table" 2>&1 || die "$(cat "$work/table")"
grep -q 'record' "$work/table" && die "$(cat "$work/table")"

# A wrong kernel, stored or not; all of them are told.
for how in "" --auto; do
	HONE_TEST_HOOKS=1 HONE_TEST_PLANT=wrong hone check $how "$work/small.onnx" >"$work/table" 2>"$work/said" &&
		die "wrong kernels were taken: $(cat "$work/table")"
	[ "$(grep -c '^k0[0-9]_.* wrong: WRONG_RESULT: [A-Za-z0-9_]*\[[0-9,]*\]: got .*, want ' "$work/table")" = 5 ] ||
		die "$(cat "$work/table")"
	[ "$(cat "$work/said")" = "hone: check: 5 of 5 kernels are wrong" ] || die "said: $(cat "$work/said")"
done
HONE_TEST_HOOKS=1 HONE_TEST_PLANT=wrong hone check --json "$work/small.onnx" >"$work/json" 2>/dev/null
grep -q '"right":0,"wrong":5,.*"result":"wrong","why":"WRONG_RESULT: ' "$work/json" || die "$(cat "$work/json")"

# A target that is not this machine: nothing can be run, and it is said.
hone check --auto --target "cpu -isa=aarch64-neon -num_cores=2" "$work/small.onnx" >"$work/table" 2>&1
grep -q 'not run: it is made for' "$work/table" || die "$(cat "$work/table")"

# A signal, whenever it comes: it is said, and no table of half the kernels is shown.
"$HONE_BIN/hone" check --auto "$work/small.onnx" >"$work/table" 2>"$work/said" &
sleep 0.3
kill -TERM $! 2>/dev/null
wait $!
case $? in
0) ;; # it was done by then
143) [ ! -s "$work/table" ] || die "half a table: $(cat "$work/table")" ;;
*) die "after a signal: $(cat "$work/said")" ;;
esac

# What a check cannot begin with.
hone check >/dev/null 2>"$work/said" && die "no file"
hone check "$work/open.onnx" >/dev/null 2>"$work/said" && die "an open dimension"
grep -q -- "give their sizes: --dim batch=.." "$work/said" || die "said: $(cat "$work/said")"
