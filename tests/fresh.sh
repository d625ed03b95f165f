#!/bin/sh
# fresh.sh -- both commands of the README on a bare Debian 12, as a newcomer gives them: in a
# minimal root of Debian's packages in a temporary folder, in a clone that lies in root's home.
# What a well-furnished machine has by chance is not there.
#
# Run by `./bootstrap fresh`.  --short: demo on a small budget and the quick tests.  Exit status
# 77: this machine cannot make such a root, and one line has said why.
#
# Mounts and processes live in namespaces of their own, which end with this script, however it
# ends: nothing is mounted on the machine, and nothing runs on.
set -eu

source=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
suite=bookworm
seconds=5 # budget of each of the demo's two kernels in the short form

cannot()
{
	printf 'fresh: NOT RUN: %s\n' "$*" >&2
	exit 77
}

say()
{
	printf '\nfresh: %s\n' "$*"
}

# Within the namespaces, as their first process: $1 = the root's folder, $2 = "short" or "whole".
inside()
{
	new=$1
	mount -t proc proc "$new/proc"
	mount --rbind /sys "$new/sys"
	mount -t tmpfs -o mode=755 dev "$new/dev"
	mkdir "$new/dev/pts" "$new/dev/shm"
	mount -t devpts -o newinstance,ptmxmode=666 devpts "$new/dev/pts"
	mount -t tmpfs -o mode=1777 shm "$new/dev/shm"
	ln -s pts/ptmx "$new/dev/ptmx"
	ln -s /proc/self/fd "$new/dev/fd"
	ln -s fd/0 "$new/dev/stdin"
	ln -s fd/1 "$new/dev/stdout"
	ln -s fd/2 "$new/dev/stderr"
	for name in null zero full random urandom tty; do
		: >"$new/dev/$name"
		mount --bind "/dev/$name" "$new/dev/$name"
	done
	budget=
	tests='./bootstrap test'
	if [ "$2" = short ]; then
		budget="HONE_DEMO_SECONDS=$seconds "
		tests='ctest --test-dir build --output-on-failure --no-tests=error -j2 -L quick'
	fi
	as_newcomer "$new" "$budget./bootstrap demo"
	as_newcomer "$new" "$tests"
}

as_newcomer()
{
	say "# $2"
	begun=$(date +%s)
	status=0
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" \
		chroot "$1" sh -c "cd /root/hone && $2" || status=$?
	say "$2: status $status, $(($(date +%s) - begun)) s"
	[ "$status" = 0 ] || exit 1
}

# Where this machine gets Debian 12 from; empty = nowhere.
# shellcheck disable=SC2016 # these are apt's words
mirror()
{
	apt-get indextargets --format '$(RELEASE) $(SITE)' 2>/dev/null |
		sed -n "s/^$suite //p" | head -1
}

# The smallest root that has apt, by whichever tool is here.
make_root()
{
	if command -v mmdebstrap >/dev/null; then
		timeout 900 mmdebstrap --variant=apt "$suite" "$1" "$(mirror)"
	else
		timeout 900 debootstrap --variant=minbase "$suite" "$1" "$(mirror)"
	fi
}

# All of this machine's sources of packages, and the keys they name.
sources()
{
	find /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/trusted.gpg.d \
		/etc/apt/preferences.d -type f 2>/dev/null
	find /etc/apt/sources.list /etc/apt/sources.list.d -type f -exec \
		sed -n 's/^Signed-By: *\(\/[^ ]*\).*/\1/p; s/^deb.*signed-by=\(\/[^] ]*\).*/\1/p' {} + \
		2>/dev/null | while read -r key; do [ ! -e "$key" ] || echo "$key"; done
}

# Apt in the root $1 reaches the sources of this machine as it does here.
furnish_apt()
{
	rm -rf "$1/etc/apt/sources.list" "$1/etc/apt/sources.list.d"
	sources | sort -u | while read -r file; do
		mkdir -p "$1${file%/*}"
		cp -L "$file" "$1$file"
	done
	apt-config dump | grep -E '^Acquire::(https?::|Retries|Check-|ForceIPv)' \
		>"$1/etc/apt/apt.conf.d/80fresh" || :
	cp -L /etc/resolv.conf /etc/hosts "$1/etc/"
}

clean()
{
	status=$?
	trap - EXIT INT TERM HUP
	if [ -n "$child" ]; then
		kill -KILL "$child" 2>/dev/null || : # and with it all that runs in there
		wait "$child" 2>/dev/null || :
	fi
	for try in 1 2 3 4 5; do # until the last of them is gone
		rm -rf --one-file-system "$work" 2>/dev/null && break
		sleep "$try"
	done
	exit "$status"
}

# apart COMMAND...: in namespaces of its own; ^C here reaches it through `clean`.
apart()
{
	status=0
	env --default-signal=INT,QUIT unshare --mount --pid --fork --kill-child \
		--mount-proc --propagation private -- "$@" </dev/null &
	child=$!
	wait "$child" || status=$?
	child=
	return "$status"
}

case ${1:-} in
--inside)
	inside "$2" "$3"
	exit
	;;
--make-root)
	make_root "$2"
	exit
	;;
--short) form=short ;;
'') form=whole ;;
*)
	printf 'bootstrap: fresh: unknown option "%s", want --short or nothing\n' "$1" >&2
	exit 2
	;;
esac

[ "$(id -u)" = 0 ] || cannot "not root, and a root of its own needs root"
command -v mmdebstrap >/dev/null || command -v debootstrap >/dev/null ||
	cannot "neither mmdebstrap nor debootstrap is here (apt-get install mmdebstrap)"
git -C "$source" rev-parse HEAD >/dev/null 2>&1 ||
	cannot "no git, or $source is no checkout: nothing to clone"
[ -n "$(mirror)" ] || cannot "apt has no source of Debian 12 ($suite) here"
unshare --mount --pid --fork --mount-proc -- true 2>/dev/null || cannot "no namespaces here (unshare fails)"

child=
work=$(mktemp -d "${TMPDIR:-/tmp}/hone-fresh-XXXXXX")
trap clean EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
chmod 755 "$work"
root=$work/root

begun=$(date +%s)
say "a bare Debian 12 in $root"
apart sh "$0" --make-root "$root" >"$work/log" 2>&1 || {
	tail -5 "$work/log" >&2
	cannot "no bare root could be made (no network?)"
}
furnish_apt "$root"
[ -z "$(git -C "$source" status --porcelain)" ] ||
	say "note: what is not committed is not in the clone"
git clone --quiet --no-hardlinks "$source" "$root/root/hone"
say "the root is there after $(($(date +%s) - begun)) s"
status=0
apart sh "$0" --inside "$root" "$form" || status=$?
took=$(($(date +%s) - begun))
[ "$status" = 0 ] || { say "FAILED on a bare Debian 12, after $took s"; exit 1; }
say "both commands are green on a bare Debian 12, in $took s"
