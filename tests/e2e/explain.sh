# explain.sh -- where the best comes from: a chain of records that ends in a heuristic schedule or a sample,
# what was predicted of each; any record by its number, failures too; what may be missing.
. "$(dirname "$0")/lib.sh"

export HONE_BOARD=fake HONE_TEST_HOOKS=1 HONE_TEST_FAKE="wrong=0.1"
hone tune --text "$middle" --trials 120 --seed 3 --json -q >"$work/tuned" || die "tune"
within 10 gone || die "processes stayed"

hone explain --text "$middle" --target fake >"$work/said" || die "explain"
grep -q 'predicted now .* by the analytic model: measured is [0-9.]* of that' "$work/said" &&
	grep -q 'predicted then .* by the analytic model, when it was asked for' "$work/said" ||
	die "no prediction: $(cat "$work/said")"
grep -q '^  C update  *[0-9.e+]*  *[0-9]* %' "$work/said" || die "no cycles: $(cat "$work/said")"

# From one line to the next: a child is younger, was made by changes, and has been predicted.
sed -n '/^lineage/,$p' "$work/said" | sed '1,2d;$d' >"$work/line"
[ "$(wc -l <"$work/line")" -ge 2 ] || die "no ancestors: $(cat "$work/said")"
last=999999
while read -r record predicted unit measured unit2 how; do
	[ "$record" -lt "$last" ] || die "$record is no parent of $last: $(cat "$work/line")"
	case $unit$unit2 in [num]s[num]s | ss) ;; *) die "times: $record $predicted $measured" ;; esac
	last=$record
done <"$work/line"
sed '$d' "$work/line" | grep -vq ' mutate:\| cross' && die "a child of no change: $(cat "$work/line")"
tail -1 "$work/said" | grep -q 'nothing, it is a heuristic schedule$\|nothing, it is a sample$\|a sample that was not measured itself$' ||
	die "the line ends in nothing: $(tail -1 "$work/said")"

# Any record of it says the same of those before it.
hone explain --record "$last" >"$work/root" || die "explain --record"
[ "$(sed -n '/^lineage/,$p' "$work/root" | sed 1,2d)" = "$(tail -2 "$work/said")" ] ||
	die "record $last says otherwise: $(cat "$work/root")"
hone explain --text "$middle" --target fake --json --features >"$work/json" || die "--json"
[ "$(wc -l <"$work/json")" = 1 ] || die "not one line"
[ "$(grep -o '"hash":' "$work/json" | wc -l)" = "$(wc -l <"$work/line")" ] ||
	die "--json has another line: $(cat "$work/json")"
grep -q '"statement":"C update",.*"points":{"value":' "$work/json" || die "no features"
hone explain --record "$last" --features | grep -q '^  mem_cycles .* cycles  of traffic' ||
	die "no features by --record"

# A failure has a line, too, and no time.
failed=$(hone why-failed --text "$middle" --target fake | sed -n 's/^ *again: hone measure //p' | head -1)
hone explain --record "$failed" >"$work/failed" || die "explain a failure"
head -1 "$work/failed" | grep -q ': WRONG_RESULT: as the fake board was told' || die "$(cat "$work/failed")"
sed -n '/^lineage/,$p' "$work/failed" | grep -q "^  $failed .* WRONG_RESULT  " || die "$(cat "$work/failed")"

refused 'there is no record 999999' hone explain --record 999999
refused '"twelve" is no record' hone explain --record twelve
refused '"-1" is no record' hone explain --record -1
refused '"1e3" is no record' hone explain --record 1e3
refused 'is no record' hone explain --record 99999999999999999999
refused 'give no other' hone explain --record 1 --text "$middle"
refused 'no store there' env HONE_HOME="$work/nowhere" "$HONE_BIN/hone" explain --record 1

# The snapshot alone answers for the rest; a store that was made anew holds other programs.
mkdir "$work/alone"
cp "$HONE_HOME/best.snapshot" "$work/alone/"
HONE_HOME=$work/alone hone explain --text "$middle" --target fake | tail -1 |
	grep -q '^lineage: .*no store there' || die "no word about the lineage"
HONE_HOME=$work/alone hone tune --text "$small" --trials 120 -q >/dev/null || die "tune anew"
HONE_HOME=$work/alone hone explain --text "$middle" --target fake | tail -1 |
	grep -q '^lineage: record .* is another program' || die "another's lineage"
hone explain --auto --text "$middle" | grep -q '^lineage' && die "a lineage of what is no record"
echo ok
