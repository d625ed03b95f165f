# final.sh -- a search ends with a paired final; kill -9 in the middle of it loses nothing, and
# the daemon that resumes the job holds it; what it promoted is what everybody is told.
. "$(dirname "$0")/lib.sh"

state_is()
{
	[ "$(hone jobs --json 2>/dev/null | field state)" = "$1" ]
}

start_honed
"$HONE_BIN/hone" tune --text "$middle" --trials 250 >/dev/null 2>&1 &
client=$!
within 240 state_is final || die "no final: $(hone jobs)"
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
hone tune --text "$middle" --trials 250 --json -q >"$work/again" || die "tune again"
[ "$(field best_ns <"$work/again")" = "$(field best_ns <"$work/job")" ] || die "another best"
[ "$(grep -c 'final of' "$work/log")" = 1 ] || die "a second final: $(grep final "$work/log")"
echo ok
