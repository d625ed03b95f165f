# proved.sh -- who wins a final is compared on all inputs before it is promoted, whatever screening
# and duels spared it: half of the programs are wrong on inputs that only one who may be the best
# is tried on.  So many trials, because a final has a share of the job's time: a fast machine has none
# left for it after a few.
. "$(dirname "$0")/lib.sh"

export HONE_BOARD=fake HONE_TEST_HOOKS=1
seed=0 out=0
# in one final of two the first winner is right, so four may show nothing
while [ "$seed" -lt 4 ] || { [ "$out" = 0 ] && [ "$seed" -lt 20 ]; }; do
	seed=$((seed + 1))
	export HONE_TEST_FAKE="sleep_ms=1,hidden=0.5,seed=$seed"
	start_honed
	hone tune --text "$middle" --trials 600 --seed $seed -q --json >"$work/job" || die "tune"
	grep -q 'final of [0-9]*: record' "$work/log" || die "no final"
	promoted=$(sed -n 's/.*final of [0-9]*: record \([0-9]*\),.*/\1/p' "$work/log")
	failed=$(sed -n 's/.*record \([0-9]*\) won its final: WRONG_RESULT.*/\1/p' "$work/log")
	for record in $failed; do
		out=$((out + 1))
		[ "$record" != "$promoted" ] || die "promoted though it failed: $record"
	done
	hone stop || die "stop"
	within 10 gone || die "processes stayed"
	rm -rf "$HONE_HOME" "$work/log"
done
[ "$out" -gt 0 ] || die "no winner failed: nothing was shown"
echo "$out winners were out"
