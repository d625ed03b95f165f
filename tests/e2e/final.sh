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

# A final needs two that are near each other: where noise puts one far ahead of all others,
# none is held.  Another seed then, from an empty store.
for seed in 1 2 3 4; do
	start_honed
	"$HONE_BIN/hone" tune --text "$middle" --trials 250 --seed $seed >/dev/null 2>&1 &
	client=$!
	within 100 final_or_done || die "neither searched nor judged: $(hone jobs)"
	state_is final && break
	wait "$client"
	hone stop >/dev/null || die stop
	wait "$honed_pid" 2>/dev/null
	rm -rf "$HONE_HOME"
done
if ! state_is final; then
	echo "skip: one candidate was far ahead of all others, four times"
	exit 77
fi
kill -9 "$honed_pid"
wait "$client"
wait "$honed_pid" 2>/dev/null
within 10 gone || die "workers outlived honed"
grep -q 'final of' "$work/log" && die "the final was over before the kill"

start_honed
within 120 state_is done || die "not resumed to its end: $(hone jobs)"
hone jobs --json >"$work/job"
[ "$(field trials <"$work/job")" = 250 ] || die "lost or repeated trials: $(cat "$work/job")"
grep -q 'final of' "$work/log" || die "no final was held"
within 10 hone query --text "$middle" --json >"$work/best" || die query
record=$(grep -o 'final of [0-9]*: record [0-9]*, [0-9]*' "$work/log" | tail -1 | sed 's/.*, //')
for figure in "$(field median_ns <"$work/best")" "$(field best_ns <"$work/job")"; do
	[ "$(printf '%.0f' "$figure")" = "$record" ] || die "promoted $record, told $figure"
done

# Judged once: the same command has nothing to do, and changes nothing.
hone tune --text "$middle" --trials 250 --seed $seed --json -q >"$work/again" || die "tune again"
[ "$(field best_ns <"$work/again")" = "$(field best_ns <"$work/job")" ] || die "another best"
[ "$(grep -c 'final of' "$work/log")" = 1 ] || die "a second final: $(grep final "$work/log")"
echo ok
