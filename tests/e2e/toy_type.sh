#!/bin/sh
# A type that the code does not know is refused, never taken for another: a float of one byte is
# planted in base/dtypes.def of a copy of the tree, once as one whose arithmetic is float32's, and
# once as one with an arithmetic of its own.  Every part that does not know it stops.
set -eu
: "${HONE_SOURCE:?the source tree}"
dir=$(mktemp -d "${TMPDIR:-/tmp}/hone-toy.XXXXXX")
trap 'rm -rf "$dir"' EXIT
export HONE_HOME="$dir/home"
tar -C "$HONE_SOURCE" --exclude='./build*' --exclude=./.git -cf - . | tar -C "$dir" -xf -
cd "$dir"
cp base/dtypes.def dtypes.def
plant() { # ARITH
	cp dtypes.def base/dtypes.def
	echo "DTYPE(F8, \"float8\", 1, FLOAT, uint8_t, 4, 9, 7, 1e-1, $1)" >>base/dtypes.def
	cmake --build build -j2 --target hone hone-build hone-board >log 2>&1 ||
		{ tail -n 30 log; exit 1; }
}
says() { # TEXT COMMAND...: it fails, and says so
	want=$1
	shift
	status=0
	"$@" >out 2>&1 || status=$?
	[ "$status" != 0 ] || { echo "it was taken: $*"; cat out; exit 1; }
	grep -q "$want" out || { echo "no '$want' from: $*"; cat out; exit 1; }
}
cmake -S . -B build -DHONE_WERROR=OFF -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 >log 2>&1 || { tail -n 30 log; exit 1; }
copy='c(float8 A[8]) -> C { C(i) = A(i) }'
sum='s(float8 A[8]) -> C { C +=! A(k) }'
maximum='m(float8 A[8]) -> C { C max=! A(k) }'
cast='t(float32 A[8]) -> C { C(i) = float32(float8(A(i))) }'
constant='k(float8 A[8]) -> C { C(i) = A(i) * 1.5 }'

for arith in F32 F8; do
	plant "$arith"
	for program in "$copy" "$sum" "$maximum" "$cast" "$constant"; do
		rm -rf "$dir/kernel"
		says '' build/bin/hone replay --auto --unchecked -e "$program" -o "$dir/kernel"
		[ -z "$(find "$dir/kernel" -name '[cskmt].o' 2>/dev/null)" ] ||
			{ echo "a kernel was written: $program"; exit 1; }
	done
done
