#!/bin/sh
# A type that the code does not know is refused, never taken for another: a two-byte float is planted
# in base/dtypes.def of a copy of the tree, once as one whose arithmetic is float32's, which no
# program may name, and once as one that computes, at which every part that does not know it stops.
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
	echo "DTYPE(F16, \"float16\", 2, FLOAT, uint16_t, 11, 16, 12, 1e-2, $1)" >>base/dtypes.def
	cmake --build build -j2 --target hone hone-build hone-board unit_measure_verify >log 2>&1 ||
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
copy='c(float16 A[8]) -> C { C(i) = A(i) }'
sum='s(float16 A[8]) -> C { C +=! A(k) }'
maximum='m(float16 A[8]) -> C { C max=! A(k) }'
cast='t(float32 A[8]) -> C { C(i) = float32(float16(A(i))) }'
constant='k(float16 A[8]) -> C { C(i) = A(i) * 1.5 }'

plant F32
for program in "$copy" "$sum" "$maximum" "$cast" "$constant"; do
	says 'float16' build/bin/hone dag -e "$program"
	says 'float16' build/bin/hone replay --auto -e "$program" -o "$dir/kernel"
	[ ! -e "$dir/kernel" ] || { echo "a kernel was written"; exit 1; }
done
if build/bin/hone dag -e "$copy" 2>&1 | grep -q 'bug in hone'; then
	echo 'what people write is no bug in hone'
	exit 1
fi
build/tests/unit/unit_measure_verify >log 2>&1 || { tail -n 30 log; exit 1; }

plant F16
for program in "$copy" "$sum" "$maximum" "$cast" "$constant"; do
	rm -rf "$dir/kernel"
	says '' build/bin/hone replay --auto --unchecked -e "$program" -o "$dir/kernel"
	[ -z "$(find "$dir/kernel" -name '[cskmt].o' 2>/dev/null)" ] || { echo "a kernel was written: $program"; exit 1; }
done
