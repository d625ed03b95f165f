# noisy.sh -- what a noisy machine says guides the search and answers for want of better, with a
# warning, but promotes nothing; once the machine is quiet a final does.
. "$(dirname "$0")/lib.sh"

export HONE_BOARD=fake HONE_TEST_HOOKS=1

judged()
{
	grep -q 'final of [0-9]*: record' "$work/log"
}

export HONE_TEST_FAKE="noisy=1,sleep_ms=1"
start_honed
hone tune --text "$middle" --trials 60 --json -q >"$work/noisy" || die "tune in noise"
[ "$(field noisy <"$work/noisy")" = 60 ] || die "not all are noisy: $(cat "$work/noisy")"
hone query --text "$middle" --target fake >/dev/null || die "no answer at all"
judged && die "promoted in noise: $(cat "$work/log")"
hone stop || die "stop"
within 10 gone || die "processes stayed"

export HONE_TEST_FAKE="sleep_ms=1"
start_honed
hone tune --text "$middle" --trials 160 --json -q >"$work/quiet" || die "tune"
[ "$(field noisy <"$work/quiet")" = 0 ] || die "noisy: $(cat "$work/quiet")"
judged || die "no final: $(cat "$work/log")"
hone stop || die "stop"
echo ok
