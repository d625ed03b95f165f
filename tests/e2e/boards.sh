# boards.sh -- three fake boards, one of which drifts for good: it is quarantined and shown, the job
# goes on with the others, and what is best is no number of its.
. "$(dirname "$0")/lib.sh"

export HONE_BOARD=fake HONE_BOARDS=3
refused "would disturb" "$HONE_BIN/honed" --board native --boards 2
refused '"0": want a number' "$HONE_BIN/honed" --boards 0
refused "which cannot run code of isa .* with vectors of 4096 bytes" \
	"$HONE_BIN/honed" --board "cpu -vector_unit_bytes=4096"
refused "unknown kind" "$HONE_BIN/honed" --board abacus

export HONE_TEST_HOOKS=1 HONE_TEST_FAKE="wrong=0.1,sleep_ms=1"
hone tune --text "$middle" --trials 100 --json -q >"$work/clean" || die "tune"
hone query --text "$middle" --target fake --json >"$work/best" || die "query"
[ "$(field codegen <"$work/best")" = none ] || die "code for a fake board: $(cat "$work/best")"
rm -rf "$HONE_HOME"
within 10 gone || die "processes stayed"

# The same search, the same answers, though board 0 says half of every time from its ninth
# request on.
export HONE_TEST_FAKE="wrong=0.1,sleep_ms=5,only=0,drift=0.5,from=8"
start_honed
hone tune --text "$middle" --trials 100 --json -q >"$work/drift" || die "tune with drift"
hone boards --json >"$work/boards" || die "boards"
[ "$(grep -o '"board":[0-9]' "$work/boards" | wc -l)" = 3 ] || die "not three: $(cat "$work/boards")"
[ "$(grep -o '"health":"quarantined"' "$work/boards" | wc -l)" = 1 ] ||
	die "not one in quarantine: $(cat "$work/boards")"
hone boards | grep -q 'its canary takes .* 50.0 % less' || die "no reason: $(hone boards)"
hone stop || die "stop"
for field in trials naive_ns; do
	[ "$(field $field <"$work/drift")" = "$(field $field <"$work/clean")" ] ||
		die "$field differs: $(cat "$work/drift" "$work/clean")"
done
within 10 gone || die "processes stayed"

# What is stored are times of the machine without drift: every record takes on a board that is
# well what the store says.
[ "$(hone query --text "$middle" --target fake --json | field naive_ns)" = "$(field naive_ns <"$work/best")" ] ||
	die "naive differs"
export HONE_TEST_FAKE="wrong=0.1"
start_honed
record=1
while [ "$record" -le "$(field trials <"$work/drift")" ]; do
	hone measure "$record" --json >"$work/again" || die "measure $record: $(cat "$work/again")"
	stored=$(sed 's/.*"stored"//' "$work/again") now=$(sed 's/"stored".*//' "$work/again")
	for field in verdict median_ns; do
		[ "$(echo "$stored" | field $field)" = "$(echo "$now" | field $field)" ] ||
			die "record $record: $field: $(cat "$work/again")"
	done
	record=$((record + 1))
done
hone stop || die "stop"
echo ok
