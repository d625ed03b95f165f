# verify.sh -- certificates: given when tuned, asked for by queries, proved anew, withdrawn from
# what is no more legal.
. "$(dirname "$0")/lib.sh"

: "${HONE_STORE_SQL:?}"

hone tune --text "$small" --trials 6 --quiet >/dev/null || die tune
store() {
	"$HONE_STORE_SQL" "$HONE_HOME/hone.sqlite" "$1" || die "store_sql: $1"
}
[ "$(store "SELECT count(*) > 0 FROM certificate")" = 1 ] || die "no certificate was kept"
hone verify | grep -q ' 0 failed; certificates: 0 given, 0 withdrawn' || die "verify: $(hone verify)"
hone query --text "$small" >/dev/null || die query

# A store without certificates, as of schema 2: nothing is best until it is verified.
store "DELETE FROM certificate"
printf x >"$HONE_HOME/best.snapshot"
refused "hone: " hone query --text "$small"
hone verify | grep -q '1 given' || die "nothing was given"
hone query --text "$small" >/dev/null || die "query after verify"

# A certificate of another schedule, and a history that races: both with good checksums.
store "UPDATE certificate SET json = replace(json, '[1, 1', '[2, 1')"
store "UPDATE certificate SET sum = hone_sum('certificate', record_id, json, unix_ms)"
hone verify >"$work/said" && die "another schedule passed"
grep -q 'its certificate is of another schedule' "$work/said" || die "$(cat "$work/said")"
fix=$(store "SELECT sql FROM sqlite_schema WHERE name = 'record_fix'")
store "DROP TRIGGER record_fix; UPDATE record SET steps = '[[\"AN\", 2, 2, 3]]' WHERE verdict = 'OK';
	UPDATE record SET sum = hone_sum('record', record.id, key, line, hone, codegen, board, steps,
	verdict, detail, median_ns, sample_ns, build_ns, run_ns, record.unix_ms, proved, origin,
	parent, mate, changes, predicted_ns, model) FROM workload, target, stamp
	WHERE workload.id = workload_id AND target.id = target_id AND stamp.id = stamp_id; $fix"
rm "$HONE_HOME/best.snapshot" # which has it as it was
hone verify >"$work/said" && die "a race passed"
grep -q 'ILLEGAL: stage 2 .*: iterations of parallel loop k share an element of C' "$work/said" ||
	die "$(cat "$work/said")"
refused "hone: " hone query --text "$small"

# A row that is not what was written is told once, by its number, and then left out.
hone tune --text "$small" --trials 12 --quiet >/dev/null || die "tune again"
best=$(store "SELECT max(record_id) FROM certificate")
fix=$(store "SELECT sql FROM sqlite_schema WHERE name = 'record_fix'")
store "DROP TRIGGER record_fix; UPDATE record SET median_ns = 1 WHERE id = $best; $fix"
hone tune --text "$small" --trials 13 --quiet >/dev/null 2>"$work/said" || die "tune a damaged store"
grep -q "hone: warning: the store is damaged: .*record $best: its checksum is wrong" "$work/said" ||
	die "$(cat "$work/said")"
grep -q "warn store: record $best: its checksum is wrong" "$HONE_LOG" || die "not in the log"
hone verify >"$work/said" && die "verify passed damage"
grep -q "^record $best: DAMAGED: its checksum is wrong" "$work/said" || die "$(cat "$work/said")"
hone verify >"$work/said" # what is illegal still fails
grep -q DAMAGED "$work/said" && die "it was settled: $(cat "$work/said")"

# A snapshot of the past is no answer.
cp "$HONE_HOME/best.snapshot" "$work/old"
hone tune --text "$small" --trials 16 --quiet >/dev/null || die "tune on"
cp "$work/old" "$HONE_HOME/best.snapshot"
refused "hone: " hone query --text "$small"
hone query --text "$small" 2>&1 | grep -q 'commits behind the store; start honed once' ||
	die "$(hone query --text "$small" 2>&1)"
