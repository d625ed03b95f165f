# tune.sh -- the whole path once: tune without a daemon, query, explain and replay from disk,
# link the kernel into a C program and check its numbers.
. "$(dirname "$0")/lib.sh"

hone tune --text "$middle" --trials 24 --json >"$work/tuned" 2>"$work/progress" ||
	die "tune: $(cat "$work/progress")"
[ "$(field state <"$work/tuned")" = done ] || die "not done: $(cat "$work/tuned")"
[ "$(field trials <"$work/tuned")" = 24 ] || die "trials: $(cat "$work/tuned")"
[ "$(field inputs <"$work/tuned")" = "seed 1; seed 2 with zeros; extremes to 2^56; compared with wider sums" ] ||
	die "inputs: $(cat "$work/tuned")"
grep -q trials "$work/progress" || die "no progress was shown"
within 10 gone || die "the private daemon or its workers stayed"

hone query --text "$middle" --json >"$work/best" || die query
[ "$(field median_ns <"$work/best")" = "$(field median_ns <"$work/tuned")" ] ||
	die "query and tune differ: $(cat "$work/best" "$work/tuned")"
# What made its code is the LLVM that hone's own test (codegen/KEY.json) was run with.
[ "$(field codegen <"$work/best")" = "cpu/LLVM $(cat "$HONE_HOME"/codegen/*.json | field llvm)" ] ||
	die "codegen: $(cat "$work/best" "$HONE_HOME"/codegen/*.json)"
hone query --key "$(field key <"$work/best")" >/dev/null || die "query by key"
hone explain --text "$middle" | grep -q 'for ' || die "explain shows no loops"
hone explain --asm --text "$middle" | grep -q 'inner loop' || die "explain shows no machine code"
[ "$(hone explain --json --text "$middle" | field median_ns)" = "$(field median_ns <"$work/best")" ] ||
	die "explain --json and query differ"
refused "hone: " hone query --text "$small"

hone replay --text "$middle" --symbol mm256 -o "$work/kernel" >/dev/null || die replay
[ "$(hone replay --json --text "$middle" --symbol mm256 -o "$work/kernel" | field object)" = \
	"$work/kernel/mm256.o" ] || die "replay --json names another object"
for file in mm256.o mm256.h mm256.json; do
	[ -s "$work/kernel/$file" ] || die "replay wrote no $file"
done
[ "$(ls -A "$work/kernel" | tr '\n' ' ')" = "hone hone_pool.o mm256.h mm256.json mm256.o " ] || die "replay left something: $(ls -A "$work/kernel")"
cat >"$work/use.c" <<'END'
#include <math.h>
#include <stdio.h>
#include "mm256.h"
static float a[256][256], b[256][256], c[256][256];
int main(void)
{
	for (int i = 0; i < 65536; i++) {
		a[i / 256][i % 256] = (float)(i % 13) - 6;
		b[i / 256][i % 256] = (float)(i % 7) - 3;
	}
	if (mm256(&a[0][0], &b[0][0], &c[0][0], 0) != 0) { return 2; }
	for (int i = 0; i < 256; i++) for (int j = 0; j < 256; j++) {
		double want = 0;
		for (int k = 0; k < 256; k++) { want += (double)a[i][k] * b[k][j]; }
		if (fabs(want - c[i][j]) > 1e-3) { printf("%d %d: %g %g\n", i, j, want, c[i][j]); return 1; }
	}
	return 0;
}
END
cc -O2 -Wall -I"$work/kernel" "$work/use.c" "$work/kernel/mm256.o" \
	-o "$work/use" -lm || die "the kernel does not link"
"$work/use" || die "the kernel's numbers are wrong"

# A second tune of the same budget has nothing left to do; of a larger one it goes on.
hone tune --text "$middle" --trials 24 --json -q >"$work/again" || die "tune again"
[ "$(field warm <"$work/again")" = 24 ] || die "not warm: $(cat "$work/again")"
hone tune --text "$middle" --trials 30 --json -q >"$work/more" || die "tune on"
[ "$(field warm <"$work/more")" = 24 ] && [ "$(field trials <"$work/more")" = 30 ] ||
	die "does not go on: $(cat "$work/more")"

# An expression as deep as a dag may have, on its way to the builder.
deep=$(printf '(%.0s' $(seq 40))'X(i)'$(printf ' * 1.01 + 0.5)%.0s' $(seq 40))
hone tune --text "f(float32 X[64]) -> Y { Y(i) = $deep }" --trials 1 -q --json >"$work/deep" ||
	die "tune a deep expression: $(cat "$work/deep")"

# Under the learned model, from what is stored: 42 records are enough to learn from.
hone tune --text "$middle" --trials 42 --model learned --json -q >"$work/learned" ||
	die "tune --model learned: $(cat "$work/learned")"
[ "$(field state <"$work/learned")" = done ] && [ "$(field trials <"$work/learned")" = 42 ] ||
	die "the learned model did not go on: $(cat "$work/learned")"
echo ok
