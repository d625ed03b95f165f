# cuda.sh -- tuning on a CUDA device whose driver is a mock (tests/mock/cuda_driver.c), with modules
# that hone makes: what goes wrong with kernels, driver and device is classified, the board comes
# back, and tuning goes on.
. "$(dirname "$0")/lib.sh"
: "${HONE_MOCK_CUDA:?}"

export HONE_TEST_HOOKS=1 HONE_CUDA_DRIVER="$HONE_MOCK_CUDA" HONE_NVML_DRIVER="$HONE_MOCK_CUDA"
export MOCK_CUDA_COUNT="$work/count" MOCK_CUDA_STATE="$work/lost"
export HONE_PTXAS=/nonexistent # the driver compiles

hone board list >"$work/list" || die "board list"
grep -q '^cuda 0  mock?\[2J "device" ; rm -rf.*, CUDA 12.8$' "$work/list" || die "name: $(cat "$work/list")"
grep -q '^  target  cuda -isa=sm_90' "$work/list" || die "target: $(cat "$work/list")"
grep -q 'limits  132 cores, 1024 threads of a block, 232448 bytes of shared memory' "$work/list" ||
	die "limits: $(cat "$work/list")"

mm='mm(float32 A[64,64], float32 B[64,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
export MOCK_CUDA_WORDS="matmul,matmul,wrong,illegal,matmul,past,misaligned,matmul,trap,lost-once,endless,crash"
hone tune --target 'cuda -isa=sm_90' --text "$mm" --trials 24 --json -q >"$work/tuned" 2>"$work/err" ||
	die "tune: $(cat "$work/tuned" "$work/err")"
[ "$(field state <"$work/tuned")" = done ] || die "not done: $(cat "$work/tuned")"
[ "$(field trials <"$work/tuned")" = 24 ] || die "stopped early: $(cat "$work/tuned")"
[ "$(field ok <"$work/tuned")" -ge 8 ] || die "few went on: $(cat "$work/tuned")"
for class in WRONG_RESULT SEGV SEGV_GUARD BUS ILL HANG; do
	grep -q "\"$class\":[1-9]" "$work/tuned" || die "no $class: $(cat "$work/tuned")"
done
[ -e "$work/lost" ] || die "the device was not lost"
grep -q '"RUN_LOST"' "$work/tuned" && die "one loss is told: $(cat "$work/tuned")"
hone query --target 'cuda -isa=sm_90' --text "$mm" --json >"$work/best" || die query
grep -q '"board":"mock?.*; at 1980 MHz, memory 2619 MHz, 412 W, 54 C"' "$work/best" ||
	die "no clocks: $(cat "$work/best")"
within 10 gone || die "processes stayed"

# What no machine has confirmed is compared like all else: warpgroups' kernels that are wrong, and
# one whose products are made one by one.
half='h(bfloat16 A[128,64], bfloat16 B[64,128]) -> C { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }'
export MOCK_CUDA_WORDS="serial,wrong,wrong,wrong" HONE_HOME="$work/third"
rm -f "$work/count"
hone tune --target 'cuda -isa=sm_90a -max_shared_memory_per_block=232448' --policy unconfirmed \
	--text "$half" --trials 3 --json -q >"$work/tuned" 2>"$work/err" || :
for class in LOAD_FAIL WRONG_RESULT; do
	grep -q "\"$class\":[1-9]" "$work/tuned" || die "no $class: $(cat "$work/tuned" "$work/err")"
done
[ "$(field ok <"$work/tuned")" = 0 ] || die "taken: $(cat "$work/tuned")"
within 10 gone || die "processes stayed"

# A device that is lost for good is nobody's fault: the job says so, and no kernel is blamed.
MOCK_CUDA_WORDS=$(printf 'lost,%.0s' $(seq 1000))
export MOCK_CUDA_WORDS HONE_HOME="$work/other"
rm -f "$work/count"
hone tune --target 'cuda -isa=sm_90' --text "$mm" --trials 4 --json -q >"$work/tuned" 2>"$work/err" &&
	die "a lost device was tuned for: $(cat "$work/tuned")"
grep -q 'measurements in a row were lost (RUN_LOST)' "$work/err" || die "$(cat "$work/err")"
grep -q '"failures":{"RUN_LOST":[0-9]*}' "$work/tuned" || die "blamed: $(cat "$work/tuned")"
within 10 gone || die "processes stayed"

# A driver without a device, and none at all.
export MOCK_CUDA=none
refused 'target cuda: CUDA: device 0 is asked for, there are 0' \
	hone tune --target 'cuda -isa=sm_90' --text "$small" --trials 4
unset MOCK_CUDA
export HONE_CUDA_DRIVER=/nonexistent.so
refused "target cuda: /nonexistent.so cannot be loaded: NVIDIA's driver is not installed; .hone tune --trials 0. and .* need none$" \
	hone tune --target 'cuda -isa=sm_90' --text "$small" --trials 4
echo ok
