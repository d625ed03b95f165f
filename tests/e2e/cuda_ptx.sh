# cuda_ptx.sh -- kernels for CUDA from end to end without a GPU: the driver is a mock that runs the PTX it
# is given (tests/mock/cuda_ptx.c).  Tuning finds right kernels alone, by threads, by warps and by
# warpgroups with tensor maps; a program that launches what was replayed, and a compiled network, give
# the right numbers.
. "$(dirname "$0")/lib.sh"
: "${HONE_MOCK_CUDA:?}" "${HONE_COMPILE_MAKE:?}"

export HONE_TEST_HOOKS=1 HONE_CUDA_DRIVER="$HONE_MOCK_CUDA" HONE_NVML_DRIVER="$HONE_MOCK_CUDA"
export HONE_PTXAS=/nonexistent # the driver compiles
export MOCK_CUDA_PTX=1 MOCK_CUDA_FAULTS="$work/faults"

line='cuda -isa=sm_90a -max_shared_memory_per_block=232448'

# tuned NAME OPTION..: each of the candidates is right, and the best one's steps are in $work/tuned.
tuned()
{
	name=$1
	shift
	hone tune --target "$line" --json -q "$@" >"$work/tuned" 2>"$work/err" ||
		die "$name: $(cat "$work/tuned" "$work/err" "$work/faults" 2>/dev/null)"
	[ "$(field trials <"$work/tuned")" -ge 3 ] || die "$name: few trials: $(cat "$work/tuned")"
	[ "$(field ok <"$work/tuned")" = "$(field trials <"$work/tuned")" ] ||
		die "$name: not all are right: $(cat "$work/tuned" "$work/faults" 2>/dev/null)"
	[ ! -s "$work/faults" ] || die "$name: $(cat "$work/faults")"
}

tuned matmul --trials 4 --text 'mm(float32 A[64,60], float32 B[60,72]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
tuned convolution --trials 3 --text 'conv(float32 X[1,10,10,16], float32 W[3,3,16,16], float32 b[16]) -> Z {
	Y(n,h,w,k) +=! X(n,h+r,w+s,c) * W(r,s,c,k) where h in 0:8, w in 0:8
	Z(n,h,w,k) = max(Y(n,h,w,k) + b(k), 0.0)
}'
tuned softmax --trials 3 --text 'softmax(float32 X[16,200]) -> S {
	M(i) max=! X(i,j)
	E(i,j) = exp(X(i,j) - M(i))
	Z(i) +=! E(i,j)
	S(i,j) = E(i,j) / Z(i)
}'
half='half(bfloat16 A[256,128], bfloat16 B[128,256]) -> C { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }'
tuned warpgroups --trials 3 --policy unconfirmed --text "$half"
grep -q wgmma_m64n "$work/tuned" || die "no product of warpgroups: $(cat "$work/tuned")"
within 10 gone || die "processes stayed"

if ! command -v cc >/dev/null; then
	echo "no cc: nothing is linked"
	exit 0
fi

# A program that launches a kernel by roles: its maps are made by the source that hone writes.
cat >"$work/main.c" <<'END'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *s_load(const char *path);
const char *s_run(const uint64_t *args);
void s_unload(void);
int cuMemAlloc_v2(uint64_t *p, size_t n);
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t n);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t n);
int cuMemFree_v2(uint64_t p);

#define ROWS 128
#define TERMS 256

static uint16_t a[ROWS][TERMS], b[ROWS][TERMS];
static float c[ROWS][ROWS];

/* small numbers, which bfloat16 has, and whose sums float32 has */
static float number(uint16_t (*to)[TERMS], int i, int k, int seed)
{
	float v = (float)((i * 7 + k * seed) % 9 - 4);
	uint32_t bits;

	memcpy(&bits, &v, 4);
	to[i][k] = (uint16_t)(bits >> 16);
	return v;
}

int main(int argc, char **argv)
{
	static float want[ROWS][ROWS], x[ROWS][TERMS], y[ROWS][TERMS];
	uint64_t arg[3];
	const char *why;

	for (int i = 0; i < ROWS; i++) {
		for (int k = 0; k < TERMS; k++) {
			x[i][k] = number(a, i, k, 3);
			y[i][k] = number(b, i, k, 5);
		}
	}
	for (int i = 0; i < ROWS; i++) {
		for (int j = 0; j < ROWS; j++) {
			for (int k = 0; k < TERMS; k++) {
				want[i][j] += x[i][k] * y[j][k];
			}
		}
	}
	if (argc < 2 || cuMemAlloc_v2(&arg[0], sizeof a) || cuMemAlloc_v2(&arg[1], sizeof b) ||
	    cuMemAlloc_v2(&arg[2], sizeof c)) {
		return 1;
	}
	cuMemcpyHtoD_v2(arg[0], a, sizeof a);
	cuMemcpyHtoD_v2(arg[1], b, sizeof b);
	why = s_load(argv[1]);
	why = why ? why : s_run(arg);
	cuMemcpyDtoH_v2(c, arg[2], sizeof c);
	s_unload();
	puts(why ? why : memcmp(c, want, sizeof c) == 0 ? "right" : "wrong");
	return 0;
}
END
hone replay --text 's(bfloat16 A[128,256], bfloat16 B[128,256]) -> C { C(i,j) +=! float32(A(i,k)) * float32(B(j,k)) }' \
	--record "$HONE_SOURCE/tests/data/roles.json" --unchecked --as ptx,launch -o "$work/s" --target "$line" >/dev/null || die "replay"
grep -q 'cp.async.bulk.tensor' "$work/s/s.ptx" || die "no bulk copies"
cc -std=gnu11 -Wall -Wextra -Werror -o "$work/main" "$work/main.c" "$work/s/s_launch.c" "$HONE_MOCK_CUDA" -ldl \
	>"$work/cc" 2>&1 || die "cc: $(head -5 "$work/cc")"
driver="$work/driver"
mkdir "$driver"
ln -s "$HONE_MOCK_CUDA" "$driver/libcuda.so.1"
export LD_LIBRARY_PATH="$driver"
[ "$("$work/main" "$work/s/s.ptx")" = right ] || die "a kernel by roles: $(cat "$work/faults" 2>/dev/null)"
# What the mock runs is the file: without its fence it is a fault.
sed '/fence.proxy.async/d' "$work/s/s.ptx" >"$work/spoiled.ptx"
[ "$("$work/main" "$work/spoiled.ptx")" != right ] || die "a missing fence is not seen"
grep -q 'behind no fence' "$work/faults" || die "another fault: $(cat "$work/faults")"
rm "$work/faults"

# A compiled network, of two batches.
"$HONE_COMPILE_MAKE" "$work/open.onnx" batch || die "no model"
for batch in 1 3; do
	hone compile "$work/open.onnx" --symbol small --dim batch=$batch --target "cuda -isa=sm_90a" -o "$work/n$batch" \
		>/dev/null 2>"$work/said" || die "compile: $(cat "$work/said")"
	cc -std=gnu11 -O1 -Wall -Wextra -Werror -I"$work/n$batch" -I"$HONE_SOURCE/tests/e2e" -o "$work/program" \
		"$HONE_SOURCE/tests/e2e/compile_run.c" "$work/n$batch/model.o" "$work/n$batch/hone_pool.o" -lm \
		-lpthread -ldl >"$work/cc" 2>&1 || die "cc: $(head -5 "$work/cc")"
	[ "$("$work/program" "$work/n$batch/model.weights" $batch 2>&1)" = right ] ||
		die "network: $("$work/program" "$work/n$batch/model.weights" $batch 2>&1)"
done
[ ! -s "$work/faults" ] || die "$(cat "$work/faults")"
echo ok
