#!/bin/sh
# bundle.sh -- one archive of the programs for a machine where nothing can be installed: LLVM is
# linked in, other libraries lie in lib/, and the machine needs no more than its libc (and, for a
# GPU, its driver).  With it goes contest.sh, which runs all there is to compare there.
#
# Run by `./bootstrap bundle`.  HONE_BIN: where the programs were built (with HONE_BUNDLE=ON).
set -eu

bin=${HONE_BIN:?}
source=${HONE_SOURCE:?}
to=${1:-$source/build/hone-bundle.tar.xz}
work=$(mktemp -d "${TMPDIR:-/tmp}/hone-bundle-XXXXXX")
trap 'rm -rf "$work"' EXIT
all=$work/hone
mkdir -p "$all/bin" "$all/lib"

# oneDNN, where the bench has it to compare with.
export LD_LIBRARY_PATH="$source/build/peers/onednn/lib"

# Parts of libc, and what comes with it, are the machine's own.
of_libc='^(linux-vdso|ld-linux.*|libc|libm|libdl|librt|libpthread)\.so'

for program in hone honed hone-build hone-board hone-bench; do
	strip -o "$all/bin/$program" "$bin/$program"
	ldd "$bin/$program" | awk -v libc="$of_libc" \
		'$1 !~ libc && $2 == "=>" { print $3 == "not" ? "missing-" $1 : $3 }' >>"$work/libraries"
done
sort -u "$work/libraries" | while read -r library; do
	cp -L "$library" "$all/lib/"
	# A library may need others; they lie beside it.
	name=$all/lib/$(basename "$library")
	chmod u+w "$name"
	strip --strip-unneeded "$name"
done
cp -R "$source/bench/gpu" "$all/contest"
cp -R "$source/examples" "$all/examples"
tar -C "$work" -cf - hone | xz -T0 -3 >"$work/archive"
mv "$work/archive" "$to"
printf 'bundle: %s, %s bytes; unpack it anywhere, programs are in hone/bin\n' "$to" \
	"$(wc -c <"$to")"
