# cross.sh -- kernels for AArch64, made on whatever this machine is and run by QEMU: the plain loops,
# automatic and random schedules, with each feature and without, on processors that have no more
# than the target says.  `hone replay` writes all that a program there needs, and what was measured
# here is no answer there.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/lib_cross.sh"

compiler=aarch64-linux-gnu-gcc
emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
if [ "$(uname -m)" = aarch64 ]; then
	echo "skip: this machine is an AArch64; kernels for it are tested as such"
	exit 77
fi
if ! command -v "$compiler" >/dev/null || [ -z "$emulator" ]; then
	echo "skip: needs $compiler and qemu-aarch64 (Debian: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static)"
	exit 77
fi

neon="cpu -isa=aarch64-neon -num_cores=2"
answers "$neon" $compiler "" "$emulator" -cpu cortex-a57
answers "$neon -mattr=+dotprod,+fullfp16" $compiler "sdot udot" "$emulator" -cpu cortex-a76
answers "$neon -mattr=+i8mm" $compiler "usdot" "$emulator" -cpu max
answers "$neon -mattr=+bf16" $compiler "bfdot" "$emulator" -cpu max
answers "$neon -mattr=+dotprod,+i8mm,+bf16,+fullfp16" $compiler "bfdot sdot udot usdot" "$emulator" -cpu max
# Where there are no such instructions the kernels do not run: the emulator does tell.
"$emulator" -cpu cortex-a57 "$work/cross/run" "$work/cross/inputs" "$work/cross/outputs" >/dev/null 2>&1 &&
	die "instructions that the processor lacks ran"

# A user's way: a kernel, its header and the pool's source, in one folder.
product='qmm(uint8 A[37,61], const int8 B[61,45]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }'
cat >"$work/steps" <<'END'
[["PK", 1, [4, 1]], ["SP", 3, 2, 61, [4], 1], ["TE", 3, [3], "usdot"], ["SP", 3, 1, 45, [4], 1],
 ["RE", 3, [0, 1, 3, 2, 4]], ["AN", 3, 0, 3], ["AN", 3, 3, 2]]
END
cat >"$work/main.c" <<'END'
#include <stdlib.h>
#include "qmm.h"
#include "hone/pool.h"
int main(void)
{
	static uint8_t a[37 * 61];
	static int8_t b[61 * 45];
	static int32_t c[37 * 45];
	struct hone_pool *pool = hone_pool_create(2);

	for (int i = 0; i < 37 * 61; i++)
		a[i] = (uint8_t)(i * 7);
	for (int i = 0; i < 61 * 45; i++)
		b[i] = (int8_t)(i * 11);
	if (qmm(a, b, c, hone_pool_env(pool, qmm_WORKSPACE_BYTES(hone_pool_threads(pool)))) != 0)
		return 1;
	for (int i = 0; i < 37; i++)
		for (int j = 0; j < 45; j++) {
			int32_t sum = 0;
			for (int k = 0; k < 61; k++)
				sum += a[i * 61 + k] * b[k * 45 + j];
			if (sum != c[i * 45 + j])
				return 2;
		}
	hone_pool_destroy(pool);
	return 0;
}
END
# $1: options of replay
kernel()
{
	rm -rf "$work/k"
	hone replay --text "$product" --target "$neon -mattr=+i8mm" "$@" -o "$work/k" >"$work/out" 2>"$work/err" ||
		die "replay $*: $(cat "$work/err")"
	[ "$(ls -A "$work/k" | tr '\n' ' ')" = "hone hone_pool.c qmm.h qmm.json qmm.o " ] ||
		die "replay left something: $(ls -A "$work/k")"
	grep -q "the kernel was not run: it is made for aarch64-neon +i8mm" "$work/err" || die "run: $(cat "$work/err")"
	grep -q "hone_pool.c is the thread pool, to be compiled for aarch64-neon" "$work/err" ||
		die "no word of the pool: $(cat "$work/err")"
	$compiler -O1 -I"$work/k" "$work/main.c" "$work"/k/*.o "$work"/k/*.c -static -lm -lpthread -o "$work/qmm" ||
		die "replay $*: does not link"
	"$emulator" -cpu max "$work/qmm" || die "replay $*: wrong, status $?"
}
for schedule in --auto "--record $work/steps"; do
	kernel $schedule
	aarch64-linux-gnu-objdump -d "$work/k/qmm.o" | grep -q usdot || die "no usdot in the kernel of $schedule"
done

# What was measured on this machine says nothing of that one.
hone tune --text "$product" --trials 2 -q >/dev/null || die "tune"
refused "tuned for $(hone tune --text "$product" --trials 0 --unchecked | sed -n 's/^  target .*-isa=\([^ ]*\) .*/\1/p')" \
	hone query --text "$product" --target "$neon"
refused 'not for aarch64-neon +i8mm; name one with --target$' hone query --text "$product" --target "$neon -mattr=+i8mm"
within 10 gone || die "processes stayed"
echo ok
