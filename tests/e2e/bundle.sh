#!/bin/sh
# What `./bootstrap bundle` packs tunes a kernel in a root that holds libc and nothing else.
#
# Slow: LLVM's archives are linked anew.  Skips without root, which a change of root needs.
set -eu

source=${HONE_SOURCE:?}
[ "$(id -u)" = 0 ] && command -v unshare >/dev/null || {
	echo "skip: not root, or no unshare"
	exit 77
}
work=$(mktemp -d "${TMPDIR:-/tmp}/hone-bare-XXXXXX")
trap 'rm -rf "$work"' EXIT

HONE_NO_PACKAGES=1 sh "$source/bootstrap" bundle "$work/bundle.tar.xz" >"$work/out" 2>&1 || {
	cat "$work/out"
	exit 1
}
root=$work/root
mkdir -p "$root/proc" "$root/dev" "$root/tmp" "$root/root"
# The loader's path is in the program, and its own folders are in the loader.
ldd "$HONE_BIN/hone" | tr ' \t' '\n\n' | grep -E '^/.*/(ld-linux[^/]*|libc|libm|libdl|librt|libpthread)\.so' |
	while read -r file; do
		mkdir -p "$root$(dirname "$file")"
		cp -L "$file" "$root$file"
	done
for name in libdl.so.2 librt.so.1 libpthread.so.0; do # of what a bundle's libraries ask for
	libc=$(ldd "$HONE_BIN/hone" | sed -n 's/.* => \(.*\)\/libc\.so.*/\1/p')
	cp -L "$libc/$name" "$root$libc/"
done
tar -C "$root" -xJf "$work/bundle.tar.xz"
cat >"$work/inside" <<END
mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev"
exec chroot "$root" /hone/bin/hone tune --trials 3 --home /root/home /hone/examples/matmul.txt
END
unshare --mount --pid --fork sh "$work/inside" >"$work/out" 2>&1 || {
	cat "$work/out"
	exit 1
}
grep -q '3 correct, 0 failed' "$work/out" || {
	cat "$work/out"
	exit 1
}
