# network.sh -- a network as a C library: three steps put together by hand, linked to a program and
# loaded by one, run by two threads at a time; the same bytes twice; two networks in one program; with
# each linker, with none, and for another family of processors.
. "$(dirname "$0")/lib.sh"
: "${HONE_NETWORK_MAKE:?}"

if ! command -v cc >/dev/null || ! command -v nm >/dev/null; then
	echo "skip: needs cc and nm"
	exit 77
fi

# kernels NAME TARGET DIR: the network's two kernels.
kernels()
{
	hone replay --auto --target "$2" --symbol "$1_k0" -o "$3" --text \
		'mm(float32 A[64,64], const B[64,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' >"$work/out" 2>&1 &&
		hone replay --auto --target "$2" --symbol "$1_k1" -o "$3" --text \
			'relu(float32 A[64,64]) -> C { C(i,j) = max(A(i,j), 0) }' >"$work/out" 2>&1 ||
		die "no kernels: $(cat "$work/out")"
}

# make DIR NAME [TARGET KERNELS]: what it says goes to $work/said, its files to $work/files.
make()
{
	"$HONE_NETWORK_MAKE" "$1" model "$2" "${3:-native}" "${4:-$work/kernels}" >"$work/files" 2>"$work/said"
}

# compiled NAME PROGRAM WORDS...: network_run.c for that network.
compiled()
{
	name=$1 program=$2
	shift 2
	${compiler:-cc} -std=gnu11 -O1 -Wall -Wextra -Werror -DNAME="$name" -DHEADER='"model.h"' -o "$program" \
		"$HONE_SOURCE/tests/e2e/network_run.c" "$@" -lm -lpthread >"$work/cc" 2>&1 ||
		die "$program: $(head -5 "$work/cc")"
}

# right PROGRAM WORDS...
right()
{
	[ "$("$@" 2>&1)" = right ] || die "$*: $("$@" 2>&1)"
}

only()
{
	ls -A "$1" | tr '\n' ' '
}

kernels small native "$work/kernels"
kernels other native "$work/kernels"

# Linked.
a="$work/a"
make "$a" small || die "make: $(cat "$work/said")"
[ ! -s "$work/said" ] || die "said: $(cat "$work/said")"
[ "$(only "$a")" = "hone hone_model.o hone_pool.o libmodel.so model.h model.o model.weights " ] ||
	die "files: $(only "$a")"
[ "$(only "$a/hone")" = "kernel.h model.h pool.h " ] || die "headers: $(only "$a/hone")"
while read -r file; do
	[ -f "$file" ] || die "said to be written: $file"
done <"$work/files"
[ "$(wc -l <"$work/files")" = 9 ] || die "files: $(cat "$work/files")"
compiled small "$work/linked" -I"$a" "$a/model.o" "$a/hone_pool.o"
right "$work/linked" "$a/model.weights"
grep -q '^#define small_PREPARED_BYTES UINT64_C(0)$' "$a/model.h" || die "something is left to prepare"
[ -z "$(nm -u "$a/hone_model.o")" ] || die "the run time needs $(nm -u "$a/hone_model.o")"

# Loaded; it shows the network's functions alone.
compiled small "$work/loaded" -DSHARED -I"$a" "$a/hone_pool.o" -ldl
right "$work/loaded" "$a/libmodel.so" "$a/model.weights"
shown=$(nm -D --defined-only "$a/libmodel.so" | sed 's/.* //' | tr '\n' ' ')
[ "$shown" = "small_arena_bytes small_model small_prepare small_run small_run_sized small_run_timed " ] || die "shown: $shown"

# Another network's weights: the stamp in the head differs.
cp "$a/model.weights" "$work/foreign.weights"
printf '\001\002' | dd of="$work/foreign.weights" bs=1 seek=8 conv=notrunc 2>/dev/null
[ "$("$work/linked" "$work/foreign.weights")" = "not prepared" ] || die "foreign weights were taken"

# Twice the same, elsewhere and over itself.
make "$work/b b" small || die "make: $(cat "$work/said")"
diff -r "$a" "$work/b b" || die "not the same"
make "$work/b b" small || die "make: $(cat "$work/said")"
diff -r "$a" "$work/b b" || die "not the same over itself"

# What a killed one left goes, and two that write to one folder do so in turn.
mkdir -p "$work/b b/.hone-abcDEF/out.parts" "$work/b b/.hone-mine"
: >"$work/b b/.hone-abcDEF/out.weights"
"$HONE_NETWORK_MAKE" "$work/b b" model other native "$work/kernels" >"$work/files2" 2>"$work/said2" &
make "$work/b b" small || die "beside another: $(cat "$work/said")"
wait $! || die "beside another: $(cat "$work/said2")"
[ ! -e "$work/b b/.hone-abcDEF" ] && [ -d "$work/b b/.hone-mine" ] || die "what stayed: $(only "$work/b b")"
rmdir "$work/b b/.hone-mine"
if grep -q '^extern const struct hone_model small_model;' "$work/b b/model.h"; then
	diff -r "$a" "$work/b b" || die "a mixture of two networks"
else
	make "$work/c" other && diff -r "$work/c" "$work/b b" || die "a mixture of two networks"
fi

# Two networks in one program: each brings the run time.
make "$work/c" other || die "make: $(cat "$work/said")"
cat >"$work/two.c" <<'END'
#include "a/model.h"
#include "c/model.h"
int main(void)
{
	return small_model.n_steps == 3 && other_model.n_steps == 3 &&
	       small_arena_bytes(1) == other_arena_bytes(1) ? 0 : 1;
}
END
cc -Wall -Wextra -Werror -I"$a" -I"$work" -o "$work/two" "$work/two.c" "$a/model.o" "$work/c/model.o" -lm \
	>"$work/cc" 2>&1 || die "two networks: $(head -5 "$work/cc")"
"$work/two" || die "two networks"
compiled other "$work/linked" -I"$work/c" "$work/c/model.o" "$a/model.o" "$a/hone_pool.o"
right "$work/linked" "$work/c/model.weights"

# With one linker alone, each of those that are there.  What a compiler driver needs it finds by
# itself or in PATH.
for linker in ld ld.lld cc; do
	command -v $linker >/dev/null || continue
	rm -rf "$work/bin"
	mkdir "$work/bin"
	printf '#!/bin/sh\nPATH=%s exec %s "$@"\n' "$PATH" "$(command -v $linker)" >"$work/bin/$linker"
	chmod +x "$work/bin/$linker"
	(PATH="$work/bin" make "$work/by-$linker" small) || die "$linker: $(cat "$work/said")"
	[ ! -s "$work/said" ] || die "$linker: $(cat "$work/said")"
	compiled small "$work/linked" -I"$a" "$work/by-$linker/model.o" "$a/hone_pool.o"
	right "$work/linked" "$a/model.weights"
	compiled small "$work/loaded" -DSHARED -I"$a" "$a/hone_pool.o" -ldl
	right "$work/loaded" "$work/by-$linker/libmodel.so" "$a/model.weights"
	echo "with $linker: right"
done

# With none: the parts, and how to join them; nothing stays of what is not made now.
mkdir "$work/none"
(PATH="$work/none" make "$work/c" small) || die "no linker: $(cat "$work/said")"
grep -q 'no linker found (ld, ld.lld, cc or gcc): model.parts has the objects' "$work/said" ||
	die "no linker: $(cat "$work/said")"
[ "$(wc -l <"$work/said")" = 1 ] || die "no linker: $(cat "$work/said")"
[ "$(only "$work/c")" = "hone hone_model.o hone_pool.o model.h model.parts model.weights " ] ||
	die "no linker: $(only "$work/c")"
(cd "$work/c/model.parts" && compiled small "$work/linked" -I.. @objects.txt ../hone_pool.o) || exit 1
right "$work/linked" "$work/c/model.weights"
grep '^    \(ld\|cc\) .*-o \.\./' "$work/c/model.parts/LINK.txt" >"$work/words"
[ "$(wc -l <"$work/words")" = 2 ] || die "LINK.txt: $(cat "$work/c/model.parts/LINK.txt")"
(cd "$work/c/model.parts" && sh -e "$work/words") || die "LINK.txt: $(cat "$work/words")"
head -c -32 "$a/libmodel.so" >"$work/unsealed" # hone ends it in a seal, a linker does not
cmp "$a/model.o" "$work/c/model.o" && cmp "$work/unsealed" "$work/c/libmodel.so" || die "LINK.txt: others"
make "$work/c" small || die "make: $(cat "$work/said")"
diff -r "$a" "$work/c" || die "something stayed"

# A linker that fails says why, and nothing changes.
printf '#!/bin/sh\necho "ld: cannot, today" >&2\nexit 1\n' >"$work/none/ld"
chmod +x "$work/none/ld"
(PATH="$work/none" make "$work/c" small) && die "a failed linker went unnoticed"
grep -q 'make: ld: cannot, today$' "$work/said" || die "failed linker: $(cat "$work/said")"
diff -r "$a" "$work/c" || die "a failed linker changed something"

# A folder that may not be written, a place that is a file.
: >"$work/file"
make "$work/file/x" small && die "wrote below a file"
[ "$(wc -l <"$work/said")" = 1 ] || die "below a file: $(cat "$work/said")"

# For another family of processors: with its compiler, with a linker for anything, with none.
compiler=aarch64-linux-gnu-gcc
emulator=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
neon="cpu -isa=aarch64-neon -num_cores=2"
if [ "$(uname -m)" = x86_64 ] && command -v $compiler >/dev/null && [ -n "$emulator" ]; then
	d="$work/arm"
	kernels small "$neon" "$work/arm-kernels"
	make "$d" small "$neon" "$work/arm-kernels" || die "aarch64: $(cat "$work/said")"
	[ "$(only "$d")" = "hone hone_model.c hone_pool.c libmodel.so model.h model.o model.weights " ] ||
		die "aarch64: $(only "$d")"
	grep -q '^#define small_PREPARED_BYTES UINT64_C([1-9]' "$d/model.h" || die "aarch64: prepared by whom?"
	compiled small "$work/linked" -DRUNS=5 -static -I"$d" "$d/model.o" "$d/hone_pool.c"
	right "$emulator" "$work/linked" "$d/model.weights"
	if command -v ld.lld >/dev/null; then
		rm -rf "$work/bin" "$d"
		mkdir "$work/bin"
		ln -s "$(command -v ld.lld)" "$work/bin/ld.lld"
		(PATH="$work/bin" make "$d" small "$neon" "$work/arm-kernels") || die "aarch64: $(cat "$work/said")"
		grep -q '^hone_model.c is the run time, to be compiled for aarch64-neon' "$work/said" ||
			die "aarch64, lld: $(cat "$work/said")"
		compiled small "$work/linked" -DRUNS=5 -static -I"$d" "$d/model.o" "$d/hone_model.c" "$d/hone_pool.c"
		right "$emulator" "$work/linked" "$d/model.weights"
	fi
	echo "aarch64: right"
fi
echo ok
