# narrow.sh -- programs of bytes and of floats of 16 bits are tuned like others: every kernel is
# right, none is taken for impossibly fast, and where the processor has the instructions the best
# kernels use them, though a kernel that is wrong is found.
. "$(dirname "$0")/lib.sh"

bytes='q(uint8 A[128,256], const int8 B[256,128], const int32 z[128], const float32 s[128]) -> Y {
	C(i,j) +=! int32(A(i,k)) * int32(B(k,j))
	Y(i,j) = uint8(min(max(nearbyint(float32(C(i,j) + z(j)) * s(j)) + 3, 0), 255)) }'
halves='b(bfloat16 A[128,256], const bfloat16 B[256,128], const float32 c[128]) -> Y {
	C(i,j) +=! float32(A(i,k)) * float32(B(k,j))
	Y(i,j) = bfloat16(max(C(i,j) + c(j), 0)) }'
softmax='s(float16 A[64,500]) -> C {
	M(i) max=! A(i,k)
	E(i,k) = exp(A(i,k) - M(i))
	S(i) +=! float32(E(i,k))
	C(i,k) = float16(float32(E(i,k)) / S(i)) }'

# $1: program
tune()
{
	hone tune --text "$1" --trials 40 >"$work/out" 2>&1 || die "tune: $(cat "$work/out")"
	grep -q '40 correct, 0 failed' "$work/out" || die "not all are right: $(cat "$work/out")"
}

# $1: program, $2: its name, $3: the feature as the kernel names it, $4: the instruction
uses()
{
	grep -qw "$3" /proc/cpuinfo 2>/dev/null || { echo "this processor has no $3"; return; }
	hone replay --text "$1" -o "$work/$2" >"$work/out" 2>&1 || die "replay: $(cat "$work/out")"
	hone explain --text "$1" >"$work/out" 2>&1 || die "explain: $(cat "$work/out")"
	grep -q "by the instruction $4" "$work/out" || die "no $4 in the best: $(cat "$work/out")"
}

for program in "$bytes" "$halves" "$softmax"; do
	tune "$program"
done
uses "$bytes" q avx512_vnni vpdpbusd
uses "$halves" b avx512_bf16 vdpbf16ps

# One wrong element is seen in each type.
for program in "$bytes" "$halves" "$softmax"; do
	HONE_TEST_HOOKS=1 HONE_TEST_PLANT=wrong hone replay --auto --text "$program" -o "$work/w" >"$work/out" 2>&1 &&
		die "a wrong kernel was taken: $(cat "$work/out")"
	grep -q 'wrong\|differ' "$work/out" || die "not refused for its answer: $(cat "$work/out")"
done
