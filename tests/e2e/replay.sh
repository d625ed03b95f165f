# replay.sh -- a kernel as every form there is: object, C source that a plain compiler makes the same
# numbers of, library, texts; the same bytes each time; and kernels of several targets in one object,
# of which the one that fits is chosen when the program is loaded, or none, with a reason.
. "$(dirname "$0")/lib.sh"

if ! command -v cc >/dev/null; then
	echo "skip: needs cc"
	exit 77
fi
text='mm(float32 A[37,29], const float32 B[29,45]) -> C { P(k,j) = B(k,j) * 2 C(i,j) +=! A(i,k) * P(k,j) }'
cat >"$work/main.c" <<'END'
#include <stdio.h>
#include <string.h>
#include "hone/pool.h"
#include "mm.h"

static float a[37 * 29], b[29 * 45], c[37 * 45];
static _Alignas(64) char block[1 << 20];

int main(void)
{
	struct hone_pool *pool = hone_pool_create(2);
	struct hone_env env = *hone_pool_env(pool, mm_WORKSPACE_BYTES(2));
	int rc;

	for (int i = 0; i < 37 * 29; i++)
		a[i] = (float)(i % 13) - 6;
	for (int i = 0; i < 29 * 45; i++)
		b[i] = (float)(i % 7) * 0.5f;
#ifdef CHOSEN
	if (mm_why() != NULL) {
		puts(mm_why());
		return mm(a, b, c, &env) == HONE_KERNEL_MACHINE ? 3 : 4;
	}
#endif
	rc = mm(a, b, c, NULL);
	for (int turn = 0; turn < 2 && rc == 0; turn++) {
		for (int i = 0; i < 37 * 45; i++) {
			float sum = 0;
			for (int k = 0; k < 29; k++)
				sum += a[i / 45 * 29 + k] * (b[k * 45 + i % 45] * 2);
			if (sum != c[i])
				return 2;
		}
		memset(c, 0, sizeof c);
		if (mm_PREPARED_BYTES > 0) {
			rc = mm_prepare(b, block, &env);
			env.prepared = block;
			env.prepared_bytes = sizeof block;
		}
		rc = rc ? rc : mm(a, b, c, &env);
	}
	hone_pool_destroy(pool);
	return rc != 0;
}
END

# program FILES..: of the folder $out
program()
{
	cc -std=gnu11 -O2 -Wall -Wextra -Werror -I"$out" "$work/main.c" "$@" -lm -lpthread -o "$work/main" >"$work/cc" 2>&1 ||
		die "does not compile: $* $(head -5 "$work/cc")"
	LD_LIBRARY_PATH="$out" "$work/main" || die "wrong, status $?: $*"
}

out=$work/all
hone replay -e "$text" --auto --as c,ir,asm,so -o "$out" >"$work/said" 2>&1 || die "$(cat "$work/said")"
[ "$(cd "$out" && echo *)" = "hone hone_pool.o libmm.so mm.c mm.h mm.json mm.ll mm.o mm.s" ] || die "$(ls "$out")"
program "$out/mm.o" "$out/hone_pool.o"
program -O3 "$out/mm.c" "$out/hone_pool.o"
program "$out/hone_pool.o" -L"$out" -lmm
cc -c -x assembler "$out/mm.s" -o "$work/mm.o" && program "$work/mm.o" "$out/hone_pool.o"
grep -q '^define.*@mm_packed' "$out/mm.ll" || die "no IR"
grep -q '"source":"mm.c","ir":"mm.ll","assembly":"mm.s","library":"libmm.so"' "$out/mm.json" || die "$(cat "$out/mm.json")"
grep -q '/\* C(i, j) += A\[i, k\] \* ' "$out/mm.c" || die "no word of what is computed: $(cat "$out/mm.c")"

# The same bytes, as often as one likes.
cp -r "$out" "$work/first"
for i in 1 2 3 4 5; do
	hone replay -e "$text" --auto --as c,ir,asm,so -o "$out" >/dev/null 2>&1 || die "again"
	diff -r "$work/first" "$out" >/dev/null || die "other bytes: $(diff -rq "$work/first" "$out")"
done

# What is in the way stays.
mkdir "$work/way" && echo mine >"$work/way/mm.c"
refused "mm.c: there already" hone replay -e "$text" --auto --as c -o "$work/way"
[ "$(cat "$work/way/mm.c")" = mine ] || die "gone"
refused 'none of c, ir, asm, so' hone replay -e "$text" --auto --as c,obj -o "$work/way"
[ "$(ls "$work/way")" = mm.c ] || die "left: $(ls "$work/way")"

# A measured best goes out as a line of a log, which is read again.
refused 'nothing was tuned here yet' hone records export -e "$text"
hone tune -e "$text" --trials 4 -q >"$work/said" 2>&1 || die "$(cat "$work/said")"
hone records export -e "$text" >"$work/best.log" 2>"$work/said" || die "$(cat "$work/said")"
case $(cat "$work/said") in
'') grep -q '"v": "v0.6"}$' "$work/best.log" || die "$(cat "$work/best.log")" ;;
*) grep -q '"v": "hone-1"}$' "$work/best.log" || die "$(cat "$work/best.log")" ;;
esac
hone records normalize "$work/best.log" | cmp -s - "$work/best.log" || die "other text: $(cat "$work/best.log")"
hone replay -e "$text" --records "$work/best.log" -o "$work/of_log" >/dev/null 2>&1 || die "not replayed"
hone replay -e "$text" -o "$work/of_store" >/dev/null 2>&1 || die "not replayed from the store"
cmp -s "$work/of_log/mm.o" "$work/of_store/mm.o" || die "another kernel than the store's"

if [ "$(uname -m)" != x86_64 ]; then
	echo "several targets: those of x86-64 alone"
	echo ok
	exit 0
fi
baseline='cpu -isa=x86-64-baseline'
out=$work/several
hone replay -e "$text" --auto --as so --target "cpu -isa=x86-64-avx512 -mattr=" --also 'cpu -isa=x86-64-avx2 -mattr=' \
	--also "$baseline" -o "$out" >"$work/said" 2>&1 || die "$(cat "$work/said")"
program -DCHOSEN "$out/mm.o" "$out/hone_pool.o"
program -DCHOSEN -static "$out/mm.o" "$out/hone_pool.o"
program -DCHOSEN "$out/hone_pool.o" -L"$out" -lmm
[ "$(grep -o '"target":' "$out/mm.json" | wc -l)" = 4 ] || die "the manifest names other targets"
objdump -d "$out/mm.o" 2>/dev/null | grep -q zmm || die "no vectors of 64 bytes"
emulator=$(command -v qemu-x86_64-static || command -v qemu-x86_64)
if [ -n "$emulator" ]; then
	LD_LIBRARY_PATH="$out" "$emulator" -cpu qemu64 "$work/main" || die "the least processor: status $?"
fi
cp -r "$out" "$work/first_several"
hone replay -e "$text" --auto --as so --target "cpu -isa=x86-64-avx512 -mattr=" --also 'cpu -isa=x86-64-avx2 -mattr=' \
	--also "$baseline" -o "$out" >/dev/null 2>&1 || die "again"
diff -r "$work/first_several" "$out" || die "other bytes of several targets"

# Where none fits, a line says so, and nothing is touched.
lacks=
for feature in amx-int8 avx512fp16 avxvnni; do
	grep -qw "$(echo "$feature" | tr - _ | sed s/avxvnni/avx_vnni/)" /proc/cpuinfo || lacks=$feature
done
if [ -n "$lacks" ]; then
	isa=avx512
	[ "$lacks" = avxvnni ] && isa=avx2
	out=$work/none
	hone replay -e "$text" --auto --target "cpu -isa=x86-64-$isa -mattr=+$lacks" --also "cpu -isa=x86-64-$isa -mattr=+$lacks -num_cores=3" \
		-o "$out" >"$work/said" 2>&1 || die "$(cat "$work/said")"
	cc -DCHOSEN -I"$out" "$work/main.c" "$out"/*.o -lm -lpthread -o "$work/main" || die "none: cc"
	"$work/main" >"$work/why"
	[ $? = 3 ] || die "none fits: status $?"
	[ "$(wc -l <"$work/why")" = 1 ] && grep -q "^mm: this processor runs none of the targets it was made for: x86-64-$isa" "$work/why" ||
		die "why: $(cat "$work/why")"
else
	echo "this processor has all that a target may ask for"
fi
refused 'leave out --also' hone replay -e "$text" --auto --as c --also "$baseline" -o "$work/way"
refused 'among targets of x86-64 alone' hone replay -e "$text" --auto --also 'cpu -isa=aarch64-neon' -o "$work/way"
refused 'needs a C compiler' env PATH="$work" "$HONE_BIN/hone" replay -e "$text" --auto --also "$baseline" -o "$work/way"
[ "$(ls "$work/way")" = mm.c ] || die "left: $(ls "$work/way")"
within 10 gone || die "processes stayed"
echo ok
