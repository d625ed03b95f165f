#!/bin/sh
# The Debian package: built, unpacked, its programs run and its pages are clean. With the word `root`
# it is installed by apt into a bare Debian 12, where its programs run without a service manager, and
# removed again, which leaves the store.
. "$(dirname "$0")/lib.sh"

for tool in cpack dpkg-deb dpkg-shlibdeps file; do
	command -v "$tool" >/dev/null || {
		echo "skip: no $tool"
		exit 77
	}
done
(cd "$work" && cpack -G DEB --config "$HONE_BIN/../CPackConfig.cmake" -B "$work/pack") >"$work/out" 2>&1 ||
	die "cpack: $(tail -5 "$work/out")"
deb=$(find "$work/pack" -maxdepth 1 -name '*.deb')
[ -f "$deb" ] || die "no package: $(ls "$work/pack")"
dpkg-deb -I "$deb" | grep -q '^ Package: hone$' || die "$(dpkg-deb -I "$deb")"
for need in libisl libllvm libsqlite3 libuv libseccomp libcjson; do
	dpkg-deb -f "$deb" Depends | grep -qi "$need" || die "it does not ask for $need: $(dpkg-deb -f "$deb" Depends)"
done
dpkg-deb -x "$deb" "$work/root" || die "unpack"
usr=$work/root/usr
for file in bin/hone bin/honed bin/hone-build bin/hone-board lib/libhone.a lib/hone/libhone_ort.so \
	include/hone/hone.h lib/pkgconfig/hone.pc lib/cmake/hone/honeConfig.cmake \
	lib/systemd/user/honed.service lib/systemd/user/honed.socket; do
	[ -e "$usr/$file" ] || die "$file is not in it: $(dpkg-deb -c "$deb")"
done
mm='mm(float32 A[16,16], float32 B[16,16]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
LD_LIBRARY_PATH="$usr/lib" "$usr/bin/hone" tune -e "$mm" --trials 4 -q >"$work/out" 2>&1 ||
	die "tune: $(cat "$work/out")"

# Every program has a page that says all of its options, and nobody complains of it.
pages=$usr/share/man/man1
for program in hone honed hone-build hone-board; do
	[ -e "$pages/$program.1" ] || [ -e "$pages/$program.1.gz" ] || die "no page of $program"
done
gunzip -f "$pages"/*.gz 2>/dev/null
"$usr/bin/honed" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | while read -r option; do
	grep -q -- "-${option#--}" "$pages/honed.1" || die "honed.1: no $option"
done || exit 1
"$usr/bin/hone" help replay | sed -n 's/^ *\(-., \)*--\([a-z-]*\).*/\2/p' | while read -r option; do
	grep -q -- "$(echo "$option" | sed 's/^/\\\\-/')" "$pages/hone.1" || die "hone.1: no --$option"
done || exit 1
if command -v mandoc >/dev/null; then
	mandoc -T lint -W warning "$pages"/*.1 >"$work/lint" || die "$(head -5 "$work/lint")"
elif man --version 2>/dev/null | grep -q man; then
	LC_ALL=C.UTF-8 MANROFFSEQ='' man --warnings -E UTF-8 -l -Tutf8 -Z "$pages"/*.1 >/dev/null 2>"$work/lint"
	[ ! -s "$work/lint" ] || die "$(head -5 "$work/lint")"
else
	echo "neither mandoc nor man is here: the pages are not read"
fi
if command -v systemd-analyze >/dev/null && [ -d /run/systemd/system ]; then
	PATH="$usr/bin:$PATH" systemd-analyze --user verify "$usr"/lib/systemd/user/honed.* || die "units"
else
	echo "no systemd here: the units are not verified"
fi
[ "${1:-}" = root ] || {
	within 10 gone || die "processes stayed"
	echo ok
	exit 0
}

# -- in a bare root ------------------------------------------------------------------------------
[ "$(id -u)" = 0 ] && command -v mmdebstrap >/dev/null || {
	echo "skip: a bare root needs root and mmdebstrap (apt-get install mmdebstrap)"
	exit 77
}
cat >"$work/inside" <<END
set -eux
unset HONE_HOME HONE_SOCKET HONE_LOG HONE_BIN HONE_SOURCE
export DEBIAN_FRONTEND=noninteractive HOME=/root XDG_RUNTIME_DIR=/tmp/run LC_ALL=C.UTF-8
mkdir -p -m 700 /tmp/run
apt-get install -y --no-install-recommends /hone.deb >/log 2>&1 || { tail -20 /log; exit 1; }
hone dag -e '$mm' >/dev/null
honed >/honed.log 2>&1 &
for i in 1 2 3 4 5 6 7 8 9 10; do hone ping >/dev/null 2>&1 && break; sleep 1; done
hone tune -e '$mm' --trials 4 -q >/tuned
hone query -e '$mm' >/asked
hone replay -e '$mm' --as c,asm -o /out >/dev/null
hone stop
wait
[ -s /root/.local/share/hone/hone.sqlite ]
apt-get purge -y hone >/log 2>&1
[ ! -e /usr/bin/hone ] && [ ! -e /usr/lib/libhone.so ] && [ ! -d /usr/include/hone ]
[ -s /root/.local/share/hone/hone.sqlite ] && [ -s /root/.local/share/hone/best.snapshot ]
echo all of it
END
sources=$(find /etc/apt/sources.list /etc/apt/sources.list.d -name '*.sources' -o -name 'sources.list' 2>/dev/null | head -1)
mmdebstrap --variant=apt bookworm "$work/bare" ${sources:+"$sources"} \
	--customize-hook="cp '$deb' \"\$1/hone.deb\"; cp '$work/inside' \"\$1/inside\"" \
	--customize-hook='chroot "$1" sh /inside' >"$work/out" 2>&1
status=$?
if ! grep -q 'running --customize-hook' "$work/out"; then
	tail -3 "$work/out"
	echo "skip: no bare root could be made (no network?)"
	exit 77
fi
[ "$status" = 0 ] && grep -q '^all of it$' "$work/out" || die "in a bare root: $(tail -25 "$work/out")"
within 10 gone || die "processes stayed"
echo ok
