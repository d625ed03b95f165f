#!/bin/sh
# bootstrap on machines this one is not: packages missing, no root, no network, an apt that
# does not know LLVM 22.  The tools it calls are stood in for; what it says and does is real.
set -eu

source=${HONE_SOURCE:?}
work=$(mktemp -d "${TMPDIR:-/tmp}/hone bootstrap-XXXXXX")
trap 'rm -rf "$work"' EXIT
fake=$work/fake
tree="$work/a tree"
export HONE_TEST_STATE="$work/state"
unset HONE_PYTHON
mkdir "$fake" "$tree" "$HONE_TEST_STATE"
cp "$source/bootstrap" "$source/CMakePresets.json" "$tree/"
mkdir "$tree/tests" "$work/tmp"
cp "$source/tests/fresh.sh" "$tree/tests/"

stand_in()
{
	{
		printf '#!/bin/sh\nstate=$HONE_TEST_STATE\n'
		cat
	} >"$fake/$1"
	chmod +x "$fake/$1"
}

stand_in dpkg-query <<'END'
for package; do :; done
case $package in
libisl-dev | llvm-22-dev) [ -e "$state/installed" ] || exit 1 ;;
esac
echo installed
END
stand_in apt-get <<'END'
echo "apt-get $*" >>"$state/log"
[ -e "$state/network" ] || exit 100
case $1 in
indextargets) [ ! -e "$state/lists" ] || echo bookworm http://debian.test/debian ;;
update) touch "$state/lists" ;;
install) touch "$state/installed" ;;
esac
END
stand_in apt-cache <<'END'
candidate='(none)'
[ ! -e "$state/lists" ] || candidate=1.0
[ "$2" != llvm-22-dev ] || [ -e "$state/llvm" ] || candidate='(none)'
echo "  Candidate: $candidate"
END
stand_in id <<'END'
[ -e "$state/root" ] && echo 0 || echo 1000
END
stand_in sudo <<'END'
[ -e "$state/sudoer" ] || exit 1
shift
exec "$@"
END
stand_in cmake <<'END'
echo "cmake $*" >>"$state/log"
case $1 in
--preset)
	mkdir -p build
	touch build/build.ninja
	printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nHONE_CASES:PATH=\n' "$PWD" >build/CMakeCache.txt
	;;
esac
END

# expect STATUS "STATE..." TEXT...: run with this state; each TEXT must be said or done.
expect()
{
	status=$1
	rm -rf "$HONE_TEST_STATE" "$tree/build"
	mkdir "$HONE_TEST_STATE"
	for state in $2; do
		touch "$HONE_TEST_STATE/$state"
	done
	label=$2
	shift 2
	got=0
	(cd / && PATH="$fake:$PATH" HONE_CASES='' HONE_NO_PACKAGES='' "$tree/bootstrap" build) \
		>"$work/out" 2>&1 || got=$?
	touch "$HONE_TEST_STATE/log"
	cat "$HONE_TEST_STATE/log" >>"$work/out"
	[ "$got" = "$status" ] || complain "exit $got, not $status"
	for text; do
		grep -qF -- "$text" "$work/out" || complain "does not say: $text"
	done
}

complain()
{
	echo "with '$label': $1" >&2
	cat "$work/out" >&2
	exit 1
}

install='apt-get update && apt-get install --no-install-recommends llvm-22-dev libisl-dev'

expect 1 '' 'not root, and sudo asks' 'missing packages: llvm-22-dev libisl-dev' "$install"
! grep -q '^apt-get' "$HONE_TEST_STATE/log" || complain "called apt-get without root"
expect 1 'sudoer' 'apt-get update failed (no network?)' "$install"
expect 1 'root lists llvm' 'apt-get update failed (no network?)' "$install"
expect 1 'root network' 'apt knows no package llvm-22-dev' 'LLVM 22 only' \
	'apt has no source for: llvm-22-dev'
expect 0 'sudoer network llvm' 'apt-get update' \
	'apt-get install -y --no-install-recommends llvm-22-dev libisl-dev' \
	'cmake --preset release' 'cmake --build'
expect 0 'root network lists llvm' 'installing llvm-22-dev libisl-dev' 'cmake --build'
! grep -q 'apt-get update' "$HONE_TEST_STATE/log" || complain "updated without need"
expect 0 'installed' 'cmake --preset release'
! grep -q '^apt-get' "$HONE_TEST_STATE/log" || complain "called apt-get without need"

# A second call configures nothing again; a moved tree starts anew.
: >"$HONE_TEST_STATE/log"
PATH="$fake:$PATH" HONE_CASES='' "$tree/bootstrap" build >/dev/null
! grep -q -- --preset "$HONE_TEST_STATE/log" || complain "configured twice"
mv "$tree" "$tree moved"
PATH="$fake:$PATH" HONE_CASES='' "$tree moved/bootstrap" build >"$work/out"
grep -q 'starting it anew' "$work/out" || complain "kept the build of another place"

for verb in '' nonsense; do
	got=0
	"$tree moved/bootstrap" $verb >"$work/out" 2>&1 || got=$?
	[ "$got" = 2 ] && grep -q '^usage: ./bootstrap VERB' "$work/out" ||
		complain "no usage for '$verb'"
done

# fresh: where no bare root can be made one line says why, and nothing is left.  A PATH of
# little more than the stand-ins: this machine's own tools for it are not there.
mkdir "$work/little"
for program in sh true env dirname basename id sed head tail find sort date mktemp rm rmdir mkdir cat \
	chmod cp sleep timeout touch mount; do
	for folder in /bin /usr/bin; do
		[ ! -x "$folder/$program" ] || ln -sf "$folder/$program" "$work/little/$program"
	done
done
stand_in git <<'END'
[ -e "$state/checkout" ]
END
stand_in unshare <<'END'
[ -e "$state/namespaces" ] || exit 1
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
END

cannot()
{
	rm -rf "$HONE_TEST_STATE"
	mkdir "$HONE_TEST_STATE"
	for state in $1; do
		touch "$HONE_TEST_STATE/$state"
	done
	label=$1
	got=0
	PATH="$fake:$work/little" TMPDIR="$work/tmp" "$tree moved/bootstrap" fresh --short \
		>"$work/out" 2>&1 || got=$?
	[ "$got" = 77 ] || complain "exit $got, not 77"
	grep -q "^fresh: NOT RUN: .*$2" "$work/out" || complain "does not say: $2"
	[ -z "$(ls -A "$work/tmp")" ] || complain "left something: $(ls "$work/tmp")"
}

cannot '' 'not root'
cannot 'root network' 'neither mmdebstrap nor debootstrap is here'
stand_in mmdebstrap <<'END'
echo "E: no such host: $4"
exit 1
END
cannot 'root network' 'nothing to clone'
cannot 'root network checkout' 'apt has no source of Debian 12'
cannot 'root network checkout lists' 'no namespaces here'
cannot 'root network checkout lists namespaces' 'no bare root could be made'
grep -q 'E: no such host: http://debian.test/debian' "$work/out" || complain "not the tool's words"

# Ended in the middle it takes all with it.
if [ "$(command id -u)" = 0 ] && unshare --mount --pid --fork --mount-proc -- true 2>/dev/null; then
	rm "$fake/unshare"
	ln -s "$(command -v unshare)" "$work/little/unshare"
	stand_in mmdebstrap <<'END'
mkdir "$3" && mount -t tmpfs none "$3" && touch "$state/mounted"
exec sleep 987.654
END
	rm -f "$HONE_TEST_STATE/mounted"
	label="ended in the middle"
	PATH="$fake:$work/little" TMPDIR="$work/tmp" "$tree moved/bootstrap" fresh >"$work/out" 2>&1 &
	tries=0
	until [ -e "$HONE_TEST_STATE/mounted" ] || [ "$tries" = 200 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	[ -e "$HONE_TEST_STATE/mounted" ] || complain "did not begin"
	kill -TERM $!
	got=0
	wait $! || got=$?
	[ "$got" = 143 ] || complain "exit $got, not 143"
	! grep -q "$work" /proc/mounts || complain "a mount is left"
	[ -z "$(ls -A "$work/tmp")" ] || complain "left something: $(ls "$work/tmp")"
	for dir in /proc/[0-9]*; do
		! tr '\0' ' ' 2>/dev/null <"$dir/cmdline" | grep -qx 'sleep 987.654 ' ||
			complain "a process is left: $dir"
	done
else
	echo "not checked: fresh ended in the middle (not root, or no namespaces here)"
fi

got=0
"$tree moved/bootstrap" fresh --long >"$work/out" 2>&1 || got=$?
label='fresh --long'
[ "$got" = 2 ] && grep -q 'unknown option "--long", want --short' "$work/out" ||
	complain "exit $got, or not said"
echo "bootstrap: ok"
