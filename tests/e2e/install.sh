#!/bin/sh
# What `cmake --install` puts into a folder is all that programs need: hone's own run from there,
# wherever the folder is moved to, and others find libhone by pkg-config or CMake, link it either
# way, and get the store's answer.
. "$(dirname "$0")/lib.sh"

cc=${CC:-cc}
for tool in cmake pkg-config "$cc"; do
	command -v "$tool" >/dev/null || {
		echo "skip: no $tool"
		exit 77
	}
done
cmake --install "$HONE_BIN/.." --prefix "$work/first" >"$work/out" 2>&1 || die "$(cat "$work/out")"
mv "$work/first" "$work/usr" # nothing may remember where it was
usr=$work/usr
lib=$(dirname "$(find "$usr" -name libhone.so)")
export LD_LIBRARY_PATH="$lib" PKG_CONFIG_PATH="$lib/pkgconfig"
examples=$HONE_SOURCE/examples/query

# the installed programs tune, and find each other
mm='mm(float32 A[16,16], float32 B[16,16]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
"$usr/bin/hone" tune --text "$mm" --trials 8 >"$work/out" 2>&1 ||
	die "tune: $(cat "$work/out")"
want=$("$usr/bin/hone" query --text "$mm" --json | sed 's/.*"median_ns":\([^,]*\),.*/\1/')
want=$(printf '%.6g' "$want")

# The program has the same answer.
answers()
{
	got=$("$1" "$mm") || die "$1 failed"
	case $got in
	"mm takes $want ns after "*) ;;
	*) die "$1 says: $got; hone query has $want" ;;
	esac
}
"$cc" "$examples/query.c" $(pkg-config --cflags --libs hone) -o "$work/by-pc" || die "pkg-config"
answers "$work/by-pc"
"$cc" "$examples/query.c" $(pkg-config --cflags hone) "$lib/libhone.a" \
	$(pkg-config --static --libs hone | sed 's/-lhone//') -o "$work/static" || die "static"
(
	unset LD_LIBRARY_PATH
	answers "$work/static"
) || exit 1
cmake -S "$examples" -B "$work/b" -DCMAKE_PREFIX_PATH="$usr" >"$work/out" 2>&1 &&
	cmake --build "$work/b" >>"$work/out" 2>&1 || die "$(cat "$work/out")"
answers "$work/b/query"
answers "$work/b/query_static"

# So does a program that has the kernel made, and calls it; without a record it says so.
"$cc" "$HONE_SOURCE/examples/kernel/kernel.c" $(pkg-config --cflags --libs hone) -o "$work/kernel" ||
	die "kernel.c"
[ "$("$work/kernel" "$usr/bin" 2>&1)" = right ] || die "kernel: $("$work/kernel" "$usr/bin" 2>&1)"
HONE_HOME=$work/none "$work/kernel" "$usr/bin" 2>"$work/err" && die "a kernel without a store"
grep -q '^kernel: .*nothing was tuned here yet' "$work/err" || die "kernel: $(cat "$work/err")"
"$work/kernel" "$work/none" 2>"$work/err" && die "a kernel without programs"
grep -q "^kernel: $work/none/hone: cannot be started: " "$work/err" || die "kernel: $(cat "$work/err")"

# And one that submits a job to honed, and follows it.
"$cc" "$HONE_SOURCE/examples/tune/tune.c" $(pkg-config --cflags --libs hone) -o "$work/tune" || die "tune.c"
"$work/tune" "$mm" 8 2>"$work/err" && die "a job without honed"
grep -q '^tune: ' "$work/err" || die "tune: $(cat "$work/err")"
"$usr/bin/honed" 2>/dev/null &
within 10 "$usr/bin/hone" ping >/dev/null 2>&1 || die "honed does not answer"
other='mm(float32 A[16,16], float32 B[16,24]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
"$work/tune" "$other" 8 >"$work/out" 2>"$work/err" || die "tune: $(cat "$work/err")"
grep -q '^8 trials, [0-9.]* ns; as written [0-9.e+]* ns$' "$work/out" || die "tune: $(cat "$work/out")"
grep -q '^search: ' "$work/err" || die "tune: $(cat "$work/err")"
"$work/tune" 'f(float32 A[8]) -> B { B(i) = A(j) }' 8 2>"$work/err" && die "a job of nonsense"
grep -q "^tune: .*index 'j' is bound by nothing" "$work/err" || die "tune: $(cat "$work/err")"
"$usr/bin/hone" stop >/dev/null || die "stop"

# an error is one line
HONE_HOME=$work/none "$work/by-pc" "$mm" 2>"$work/err" && die "a store that is not there answered"
[ "$(wc -l <"$work/err")" -eq 1 ] || die "more than a line: $(cat "$work/err")"

# it needs the C library alone
readelf -d "$lib/libhone.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
	grep -vE '^(libc|libm|ld-linux[-a-z0-9]*)\.so\.[0-9]+$' >"$work/out" &&
	die "libhone.so needs $(cat "$work/out")"

# it shows the names that its headers declare, and no other
nm -D --defined-only "$lib/libhone.so" | sed -n 's/.* T \(.*\)@@HONE_.*/\1/p' | sort >"$work/shared"
nm --defined-only --extern-only "$lib/libhone.a" | sed -n 's/.* [A-Z] \(.*\)/\1/p' | sort >"$work/archive"
cmp -s "$work/shared" "$work/archive" || die "libhone.so and libhone.a differ in names"
grep -h '^[a-z].*hone_[a-z_]*(' "$usr/include/hone/hone.h" "$usr/include/hone/load.h" "$usr/include/hone/pool.h" "$usr/include/hone/tune.h" |
	sed 's/.*\(hone_[a-z_]*\)(.*/\1/' | sort -u >"$work/declared"
cmp -s "$work/shared" "$work/declared" ||
	die "names: $(diff "$work/shared" "$work/declared" | grep '^[<>]' | tr '\n' ' ')"

# the headers are for every C, and for C++, by whatever compilers there are
fine()
{
	lang=$1
	shift
	command -v "$1" >/dev/null || return 0
	for header in hone kernel load model pool tune; do
		echo "#include <hone/$header.h>" >"$work/h.c"
		"$@" -pedantic -Wall -Wextra -Werror -I"$usr/include" -fsyntax-only -x "$lang" \
			"$work/h.c" || die "$header.h: $*"
	done
}
for c in "$cc" clang; do
	fine c "$c" -std=c89
	fine c "$c" -std=c11
done
for cxx in g++ clang++; do
	fine c++ "$cxx" -std=c++98 -Wno-long-long
	fine c++ "$cxx" -std=c++17
done
