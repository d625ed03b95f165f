# titles.sh [RUNS [BOARD]] -- three clients tune one program at a time, with budgets that end one
# after the other: each final is held against the winner of the one before, and nobody is told of a
# slower program than one of them found.  BOARD: fake (times follow from the history alone), or
# native, where times are noisy and the chain of holders is what is checked.
. "$(dirname "$0")/lib.sh"

runs=${1:-4} board=${2:-fake}
export HONE_BOARD=$board HONE_TEST_HOOKS=1
target=$board program=$middle seconds=2 more=15 fewer=200
[ "$board" = fake ] || program=$small seconds=20 more=40 fewer=120

# The finals in order, as the log tells them: whom each was against, and who holds the title then.
chain()
{
	sed -n 's/.*final of [0-9]*: record \([0-9]*\), .*, against record \([0-9]*\)$/\2 \1/p' "$work/log"
}

# It begins with nobody, and goes on from winner to winner.
unbroken()
{
	chain | awk 'BEGIN { held = 0 } $1 != held { exit 1 } { held = $2 }'
}

# The fastest that any client was told of is within a hundredth of what a query answers: a final
# need not find less.
fastest_is_told()
{
	told=$(hone query --text "$program" --target $target --json | field median_ns)
	for job in 1 2 3; do
		field median_ns <"$work/job$job"
	done | awk -v told="$told" '{ if (told == "" || told > 1.0101 * $1) exit 1 }'
}

n=0 finals=0 met=0
while [ "$n" -lt "$runs" ]; do
	n=$((n + 1))
	export HONE_TEST_FAKE="sleep_ms=5,seed=$n"
	start_honed
	hone tune --text "$program" -s $seconds --seed $n -q --json >"$work/job1" &
	first=$!
	sleep 0.3
	hone tune --text "$program" -n $((fewer + 20 * (n % 7))) -s $more --seed $((n + 1)) -q --json >"$work/job2" &
	second=$!
	sleep 0.3
	hone tune --text "$program" -n $((fewer * 3 / 4 + 30 * (n % 5))) -s $more --seed $((n + 2)) -q --json >"$work/job3" ||
		die "run $n: the third client"
	wait $first || die "run $n: the first client"
	wait $second || die "run $n: the second client"
	unbroken || die "run $n: a final without the holder: $(chain)"
	[ "$board" != fake ] || fastest_is_told ||
		die "run $n: told $told, and found: $(cat "$work"/job[123])"
	held=$(chain | wc -l)
	finals=$((finals + held))
	[ "$held" -gt 1 ] && met=$((met + 1))
	hone stop || die "run $n: stop"
	within 10 gone || die "run $n: processes stayed"
	rm -rf "$HONE_HOME" "$work/log"
done
echo "$n runs, $finals finals; in $met of them more than one"
[ "$met" -gt 0 ] || [ "$board" = fake ] || exit 77 # a busy machine has no time for finals
[ "$met" -gt 0 ] || die "never two finals of one workload: nothing was shown"
echo ok
