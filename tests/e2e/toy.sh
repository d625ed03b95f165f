#!/bin/sh
# A step is one file, one row and one line of docs/trace.md (docs/adding-a-step.md): in a copy of the
# tree, with tests/toy/swap.c and these, the tests of all steps pass, and those of the toy.
set -eu
: "${HONE_SOURCE:?the source tree}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/hone-toy.XXXXXX")
trap 'rm -rf "$dir"' EXIT
tar -C "$HONE_SOURCE" --exclude='./build*' --exclude=./.git -cf - . | tar -C "$dir" -xf -
cp "$dir/tests/toy/swap.c" "$dir/loopstate/state/step/swap.c"
cp "$dir/tests/toy/loopstate_swap.c" "$dir/tests/unit/loopstate/swap.c"
echo 'STEP(swap, "XC")' >>"$dir/loopstate/state/steps.def"
echo '| XC | swap | `stage, iter` | a loop and the one inside it change places |' >>"$dir/docs/trace.md"
tests='loopstate_swap loopstate_trace loopstate_properties base_layers'
(
	cd "$dir"
	cmake -S . -B build -DHONE_WERROR=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0
	cmake --build build -j2 --target $(for t in $tests; do echo "unit_$t"; done)
) >"$dir/log" 2>&1 || { tail -n 30 "$dir/log"; exit 1; }
for t in $tests; do
	"$dir/build/tests/unit/unit_$t" >"$dir/log" 2>&1 || { tail -n 30 "$dir/log"; exit 1; }
done
