# opencl.sh -- tuning on an OpenCL device (PoCL where there is no GPU): from an empty store a matmul,
# a convolution with bias and relu, and a softmax get a right kernel, of few trials one that is
# several times as fast as the program as it is written; planted faults are classified, and tuning
# goes on.  Skipped where OpenCL has no device.
. "$(dirname "$0")/lib.sh"

hone board list --json >"$work/devices" || die "board list"
if ! grep -q '"kind":"opencl"' "$work/devices" || ! grep -q '"target":"opencl' "$work/devices"; then
	echo "skip: no OpenCL device"
	exit 77
fi
hone board list >"$work/list" || die "board list"
grep -q '^opencl 0  .' "$work/list" || die "no name: $(cat "$work/list")"
line=$(sed -n 's/^  target  \(opencl -isa=[a-z-]*\).*/\1/p' "$work/list" | head -1)
[ -n "$line" ] || die "no target line: $(cat "$work/list")"
grep -q 'limits  [1-9][0-9]* cores, [1-9][0-9]* threads of a block' "$work/list" || die "no limits"

mm='mm(float32 A[192,160], float32 B[160,256]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
conv='conv(float32 X[1,32,30,30], float32 W[32,32,3,3], float32 b[32]) -> R {
	Y(n,o,y,x) +=! X(n,c,y+dy,x+dx) * W(o,c,dy,dx)
	R(n,o,y,x) = max(Y(n,o,y,x) + b(o), 0.0)
}'
soft='softmax(float32 X[256,512]) -> S {
	M(i) max=! X(i,j)
	E(i,j) = exp(X(i,j) - M(i))
	Z(i) +=! E(i,j)
	S(i,j) = E(i,j) / Z(i)
}'
for program in "$mm" "$conv" "$soft"; do
	hone tune --target opencl --text "$program" --trials 4 --json -q >"$work/tuned" 2>"$work/err" ||
		die "tune: $(cat "$work/tuned" "$work/err")"
	[ "$(field state <"$work/tuned")" = done ] || die "not done: $(cat "$work/tuned")"
	[ "$(field ok <"$work/tuned")" -ge 1 ] || die "none is right: $(cat "$work/tuned")"
	grep -q "\"target\":\"$line " "$work/tuned" || die "another target: $(cat "$work/tuned")"
	field speedup <"$work/tuned" | awk '{ exit !($1 >= 5) }' ||
		die "the search has found nothing: $(cat "$work/tuned")"
	hone query --target opencl --text "$program" --json >"$work/best" || die query
	grep -q '"board":"[^"]*(opencl ' "$work/best" || die "no device's name: $(cat "$work/best")"
done
within 10 gone || die "processes stayed"

# A kind alone is the device that is here; the rules know it, and need no store.
hone replay --target opencl --text "$mm" --auto --as opencl -o "$work/auto" >"$work/out" 2>"$work/err" ||
	die "no schedule by rule: $(cat "$work/err")"
grep -q "\"target\": *\"$line " "$work/auto/mm.json" || die "rule: $(cat "$work/auto/mm.json")"
case $line in
*-cpu)
	grep -q 'reqd_work_group_size(1, 1, 1)' "$work/auto/mm.cl" || die "a block is several threads"
	grep -q vload "$work/auto/mm.cl" || die "no vectors: $(cat "$work/auto/mm.cl")"
	;;
esac
HONE_TEST_HOOKS=1 HONE_OPENCL_DRIVER=/nonexistent.so "$HONE_BIN/hone" replay --target opencl --text "$mm" --auto -o "$work/none" \
	>"$work/out" 2>"$work/err" || die "no schedule by rule without a device: $(cat "$work/err")"
grep -q '^hone: target opencl: no such device is here (.*nonexistent.*); taken is opencl -isa=opencl$' \
	"$work/err" || die "not said what is taken: $(cat "$work/err")"

# Faults of kernels, by the builder: each is what it is, and tuning goes on.
export HONE_TEST_HOOKS=1 HONE_TEST_PLANT="wrong,oob,nobarrier,hang"
hone tune --target opencl --text "$middle" --trials 8 --json -q >"$work/tuned" 2>"$work/err" ||
	die "tune: $(cat "$work/tuned" "$work/err")"
[ "$(field trials <"$work/tuned")" = 8 ] || die "stopped early: $(cat "$work/tuned")"
[ "$(field ok <"$work/tuned")" -ge 1 ] || die "none went on: $(cat "$work/tuned")"
for class in HANG SEGV_GUARD WRONG_RESULT; do
	grep -q "\"$class\":[1-9]" "$work/tuned" || die "no $class: $(cat "$work/tuned")"
done
within 10 gone || die "processes stayed"
unset HONE_TEST_PLANT

# A driver that is not there is said at once.
export HONE_OPENCL_DRIVER=/nonexistent.so
refused 'target opencl: /nonexistent.so cannot be loaded: a loader of OpenCL drivers .* is not installed' \
	hone tune --target opencl --text "$small" --trials 4
hone board list >"$work/list" || die "board list"
grep -q '^opencl: none: /nonexistent.so cannot be loaded' "$work/list" || die "$(cat "$work/list")"
echo ok
