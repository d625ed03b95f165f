# final.sh -- a search ends with a paired final; kill -9 in the middle of it loses nothing, and
# the daemon that resumes the job holds it; what it promoted is what everybody is told.
. "$(dirname "$0")/lib.sh"

state_is()
{
	[ "$(hone jobs --json 2>/dev/null | field state)" = "$1" ]
}

final_or_done()
{
	state_is final || state_is done
}

judged()
{
	grep -q 'final of [0-9]*: record' "$work/log"
}

# Into a final, and out by kill -9.  It needs two candidates that are near each other: where
# noise puts one far ahead of all others there is nothing to judge, and another seed begins from
# an empty store.
interrupted()
{
	start_honed
	"$HONE_BIN/hone" tune --text "$middle" --trials 250 --seed "$1" >/dev/null 2>&1 &
	client=$!
	within 240 final_or_done || die "neither searched nor judged: $(hone jobs)"
	state_is final
	seen=$?
	kill -9 "$honed_pid"
	wait "$client"
	wait "$honed_pid" 2>/dev/null
	within 10 gone || die "workers outlived honed"
	[ "$seen" -eq 0 ] && ! judged
}

seed=1
until interrupted $seed; do
	rm -rf "$HONE_HOME" "$work/log"
	seed=$((seed + 1))
	if [ "$seed" -gt 5 ]; then
		echo "skip: one candidate was far ahead of all others, five times"
		exit 77
	fi
done

start_honed
within 120 state_is done || die "not resumed to its end: $(hone jobs)"
# One that the machine's stalls cut short stays owed: the same command holds it.
for again in 1 2 3 4 5 6; do
	judged && break
	grep -q 'stays owed' "$work/log" || die "no final was held, and none is owed"
	hone tune --text "$middle" --trials 250 --seed $seed -q >/dev/null || die "tune, owing"
done
judged || die "owed for ever"
hone query --text "$middle" --json >"$work/best" || die query
hone tune --text "$middle" --trials 250 --seed $seed --json -q >"$work/job" || die "tune again"
[ "$(field trials <"$work/job")" = 250 ] || die "lost or repeated trials: $(cat "$work/job")"
record=$(grep -o 'final of [0-9]*: record [0-9]*, [0-9]*' "$work/log" | tail -1 | sed 's/.*, //')
for figure in "$(field median_ns <"$work/best")" "$(field median_ns <"$work/job")"; do
	[ "$(printf '%.0f' "$figure")" = "$record" ] || die "promoted $record, told $figure"
done
# A final in a noisy moment makes nobody slower than it was.
screened=$(grep -o '(screened [0-9]*' "$work/log" | tail -1 | sed 's/.* //')
[ "$record" -le "$screened" ] || die "screened with $screened, told $record"
# Judged once: that command had nothing to do.
[ "$(grep -c 'final of [0-9]*: record' "$work/log")" = 1 ] || die "a second final: $(grep final "$work/log")"
echo ok
