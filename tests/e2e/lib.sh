# lib.sh -- what the end-to-end scripts share: a store, a socket and a log of their own in a
# temporary folder; a trap that ends every process of theirs; checks that say what they saw.
# Sourced; expects HONE_BIN and HONE_SOURCE.

set -u
: "${HONE_BIN:?}" "${HONE_SOURCE:?}"
export LC_ALL=C

work=$(mktemp -d /tmp/hone-e2e-XXXXXX)
export HONE_HOME="$work/home" HONE_SOCKET="$work/run/s" HONE_LOG="$work/log"
unset HONE_TEST_HOOKS HONE_TEST_PLANT

for program in hone honed hone-build hone-board; do
	if [ ! -x "$HONE_BIN/$program" ]; then
		echo "skip: $program is not built"
		rm -rf "$work"
		exit 77
	fi
done

hone()
{
	"$HONE_BIN/hone" "$@"
}

# Our processes: those whose environment names our folder.  Transient ones (a just ended
# child's) vanish while we look, which is fine.
ours()
{
	for dir in /proc/[0-9]*; do
		read -r comm 2>/dev/null <"$dir/comm" || continue
		case $comm in
		hone | honed | hone-b*)
			if tr '\0' '\n' <"$dir/environ" | grep -qx "HONE_HOME=$HONE_HOME"; then
				echo "${dir#/proc/}"
			fi
			;;
		esac
	done 2>/dev/null
}

clean()
{
	for pid in $(ours); do
		kill -9 "$pid" 2>/dev/null
	done
	chmod -R u+w "$work" 2>/dev/null
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 130' INT TERM

die()
{
	echo "FAIL: $*" >&2
	echo "--- log of honed" >&2
	tail -30 "$work/log" >&2 2>/dev/null
	exit 1
}

# field NAME <json: a number or word of a one-line object (the first of that name).
field()
{
	grep -o "\"$1\":\"\{0,1\}[^,\"}]*" | sed 's/.*://; s/"//' | head -1
}

# Wait up to $1 seconds until the rest succeeds.
within()
{
	tries=$(($1 * 10))
	shift
	while [ "$tries" -gt 0 ]; do
		"$@" && return 0
		sleep 0.1
		tries=$((tries - 1))
	done
	return 1
}

gone()
{
	[ -z "$(ours)" ]
}

start_honed()
{
	"$HONE_BIN/honed" "$@" &
	honed_pid=$!
	within 10 hone ping >/dev/null 2>&1 || die "honed does not answer"
}

# Ten trials of the first job are reported.
tuned_some()
{
	[ "$(hone jobs --json 2>/dev/null | field trials)" -ge 10 ] 2>/dev/null
}

# killed_and_resumed COMMAND...: a client tunes through a daemon of ours, which is killed in the
# middle; started anew it goes on with $job, without a client.
killed_and_resumed()
{
	start_honed
	"$@" >/dev/null 2>&1 &
	client=$!
	within 60 tuned_some || die "no trials: $(hone jobs)"
	job=$(hone jobs --json | field job)
	kill -9 "$honed_pid"
	wait "$client"
	wait "$honed_pid" 2>/dev/null
	within 10 gone || die "workers outlived honed"
	start_honed
	[ "$(hone jobs --json | field job)" = "$job" ] || die "not resumed: $(hone jobs)"
}

# refused WORDS COMMAND...: exit status above 10, nothing on stdout, one line on stderr with
# WORDS (a basic regular expression) in it.
refused()
{
	words=$1
	shift
	"$@" >"$work/out" 2>"$work/err"
	status=$?
	[ "$status" -gt 10 ] && [ "$status" -lt 64 ] || die "$*: status $status: $(cat "$work/err")"
	[ ! -s "$work/out" ] || die "$*: wrote to standard output: $(cat "$work/out")"
	[ "$(wc -l <"$work/err")" -eq 1 ] || die "$*: not one line: $(cat "$work/err")"
	grep -q -- "$words" "$work/err" || die "$*: said \"$(cat "$work/err")\", not \"$words\""
}

small='mm(float32 A[64,48], float32 B[48,80]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
middle='mm(float32 A[256,256], float32 B[256,256]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
