# crashes.sh -- a job that ends honed again and again is not resumed for ever; one that gets on
# meanwhile is, however often honed is killed.
. "$(dirname "$0")/lib.sh"

export HONE_TEST_HOOKS=1 HONE_TEST_FAKE="stall=1" HONE_BOARD=fake

state_is()
{
	[ "$(hone jobs --json 2>/dev/null | field state)" = "$1" ]
}

killed()
{
	kill -9 "$honed_pid"
	wait "$honed_pid" 2>/dev/null
	within 10 gone || die "workers outlived honed"
}

# The board never answers the first request: the job ends honed, as far as anybody can tell.
start_honed
hone tune --text "$middle" --trials 20 -q >/dev/null 2>&1 &
client=$!
within 20 state_is naive || die "not begun: $(hone jobs)"
killed
wait "$client"
for i in 2 3 4 5; do
	start_honed
	within 20 state_is naive || die "start $i: not resumed: $(hone jobs)"
	killed
done
start_honed
within 10 grep -q 'honed ended 5 times in a row while this job ran' "$work/log" ||
	die "it goes on: $(hone jobs)"
! state_is naive || die "it still runs: $(hone jobs)"
hone stop || die "stop"
within 10 gone || die "processes stayed"
start_honed
[ "$(grep -c ': resumed' "$work/log")" = 5 ] || die "resumed $(grep -c ': resumed' "$work/log") times"
hone stop || die "stop"

# An orderly end is no crash, and neither is one after which there is more in the store.
export HONE_TEST_FAKE="sleep_ms=30"
within 10 gone || die "processes stayed"
start_honed
hone tune --text "$small" --trials 100000 -q >/dev/null 2>&1 &
client=$!
for i in 1 2 3 4 5 6 7; do
	within 20 state_is search || die "start $i: $(hone jobs)"
	had=$(hone query --text "$small" --target fake --json 2>/dev/null | field trials)
	more()
	{
		[ "$(hone jobs --json 2>/dev/null | field trials)" -gt $((${had:-0} + 3)) ] 2>/dev/null
	}
	within 20 more || die "start $i: no trials: $(hone jobs)"
	killed
	start_honed
done
within 20 state_is search || die "it was given up: $(hone jobs)"
hone stop || die "stop"
echo ok
