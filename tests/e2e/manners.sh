# manners.sh -- what a command owes the shell it runs in: silence when the reader of a pipe has
# gone, the exit status of the signal that ended it, a word from the first half second, and a hint
# where a word was mistyped.
. "$(dirname "$0")/lib.sh"

# piped COMMAND...: its status, when who reads takes nothing at all; it may not say a word.
piped()
{
	mkfifo "$work/pipe"
	{ sleep 0.3; "$@" 2>"$work/err"; echo $? >"$work/status"; } >"$work/pipe" &
	: <"$work/pipe"
	wait $!
	rm "$work/pipe"
	[ ! -s "$work/err" ] || die "$*: said: $(cat "$work/err")"
	status=$(cat "$work/status")
	[ "$status" -eq 0 ] || [ "$status" -eq 141 ] || die "$*: status $status"
}
hone tune --text "$small" -n 4 -q >/dev/null || die tune
piped hone help
piped hone help tune
piped hone query --text "$small"
piped hone query --text "$small" --json
piped hone explain --text "$small"
piped hone dag --text "$small"
piped hone sketch --text "$small"
piped hone poly --text "$small"
piped hone verify --json
piped hone replay --text "$small" -o "$work/kernel"
[ "$(ls -A "$work/kernel" | wc -l)" -ge 3 ] || die "replay left: $(ls -A "$work/kernel")"
! ls -A "$work/kernel" | grep -q '^\.hone-' || die "replay left its temporary folder"
piped "$HONE_BIN/honed" --help
# A disk that is full is another matter.
hone help >/dev/full 2>"$work/err" && die "/dev/full was written"
grep -q 'cannot be written' "$work/err" || die "/dev/full: $(cat "$work/err")"

# The signal decides the status, with what was found on standard output.
for row in "INT 130" "TERM 143"; do
	set -- $row
	"$HONE_BIN/hone" tune --text "$middle" -n 5000 >"$work/out" 2>"$work/progress" &
	client=$!
	within 5 test -s "$work/progress" || die "nothing was said at first"
	within 60 tuned_some || die "nothing was found: $(cat "$work/progress")"
	kill -$1 "$client"
	wait "$client"
	status=$?
	[ $status -eq $2 ] || die "$1: status $status: $(cat "$work/progress")"
	grep -q 'tuned ' "$work/out" || die "$1: no table: $(cat "$work/out")"
	within 10 gone || die "$1 left: $(ours)"
done

# The first word comes before anything is measured.
head -1 "$work/progress" | grep -q '^mm: measuring this machine first' || die "no first word: $(cat "$work/progress")"

# Slips of the finger.
refused 'trails: no such option (did you mean --trials?); see `hone help tune`' hone tune --trails 3
refused '^hone: --s: could be --seconds, --s' hone tune --s 3
refused '^hone: --trials: needs a value' hone tune --trials
refused '^hone: --trials: needs a value' hone tune -n
refused '^hone: --json: takes no value' hone query --json=yes
refused '^hone: -x: no such option; see `hone help why-failed`' hone why-failed -jx
refused '^hone: --frobnicate: no such option; see' hone query --frobnicate
refused 'tnue: no such verb (did you mean tune?)' hone tnue
refused 'qeury: no such verb (did you mean query?)' hone help qeury
refused 'why_faild: no such verb (did you mean why-failed?)' hone why_faild
refused 'scoket: no such option (did you mean --socket?)' "$HONE_BIN/honed" --scoket s
refused '--socket: needs a value' "$HONE_BIN/honed" --socket
"$HONE_BIN/honed" -h | grep -q '^usage: honed' || die "honed -h"

# Help fits the terminal.
for columns in 40 60 100; do
	for verb in '' tune replay explain poly; do
		COLUMNS=$columns hone help $verb | awk -v most="$columns" '
			/^usage:/ { next }
			/ $/ { print; bad = 1 }
			length($0) > most { print; bad = 1 } END { exit bad }' ||
			die "help $verb is wider than $columns"
	done
done
echo ok
