# verify.sh -- certificates: given when tuned, asked for by queries, proved anew, withdrawn from
# what is no more legal.
. "$(dirname "$0")/lib.sh"

command -v sqlite3 >/dev/null || exit 77

hone tune --text "$small" --trials 6 --quiet >/dev/null || die tune
store() {
	sqlite3 "$HONE_HOME/hone.sqlite" "$1" || die "sqlite3: $1"
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

# A certificate of another schedule, and a history that races.
store "UPDATE certificate SET json = replace(json, '[1, 1', '[2, 1')"
hone verify >"$work/said" && die "another schedule passed"
grep -q 'its certificate is of another schedule' "$work/said" || die "$(cat "$work/said")"
store "DROP TRIGGER record_fix; UPDATE record SET steps = '[[\"AN\", 2, 2, 3]]' WHERE verdict = 'OK'"
hone verify >"$work/said" && die "a race passed"
grep -q 'ILLEGAL: stage 2 .*: iterations of parallel loop k share an element of C' "$work/said" ||
	die "$(cat "$work/said")"
refused "hone: " hone query --text "$small"
