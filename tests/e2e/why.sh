# why.sh -- what failed, by class, with a command that repeats it: of a job that is over, of a
# workload, in both forms.
. "$(dirname "$0")/lib.sh"

export HONE_BOARD=fake HONE_TEST_HOOKS=1 HONE_TEST_FAKE="wrong=0.2,crash=0.2"
hone tune --text "$middle" --trials 60 --json -q >"$work/tuned" || die "tune"
job=$(field job <"$work/tuned")
within 10 gone || die "processes stayed"

hone why-failed "$job" >"$work/why" || die "why-failed JOB"
for class in WRONG_RESULT SEGV; do
	n=$(field $class <"$work/tuned")
	grep -q "^$class: $n " "$work/why" || die "not $n of $class: $(cat "$work/why")"
done
grep -q 'null pointer, as the fake board was told' "$work/why" || die "no detail"
[ "$(grep -c 'steps: \[\[' "$work/why")" -ge 2 ] || die "no steps"
hone why-failed --text "$middle" --json >"$work/json" || die "why-failed --json"
[ "$(field ok <"$work/json")" = "$(field ok <"$work/tuned")" ] || die "ok: $(cat "$work/json")"

# The commands that it prints do what they say.
sed -n 's/^ *again: //p' "$work/why" >"$work/again"
[ "$(wc -l <"$work/again")" -ge 4 ] || die "few commands: $(cat "$work/why")"
while read -r command; do
	"$HONE_BIN/"$command >"$work/once" || die "$command"
	stored=$(sed -n 's/^ *stored *\([A-Z_]*\).*/\1/p' "$work/once")
	[ -n "$stored" ] && grep -q "now *$stored" "$work/once" ||
		die "$command: $(cat "$work/once")"
done <"$work/again"
# ... which is not what is stored read back: a board without faults says otherwise.
HONE_TEST_FAKE= "$HONE_BIN/"$(head -1 "$work/again") | grep -q 'now *OK' || die "not measured"
[ "$(hone query --text "$middle" --target fake --json | field trials)" = 60 ] || die "it was stored"

refused 'none called "j0123456789ab"' hone why-failed j0123456789ab
refused 'give the number' hone measure twelve
refused 'no record 999999' hone measure 999999
hone why-failed --text "$small" | grep -q 'nothing failed' || die "an unknown workload"

# A job that gives up says the command.
export HONE_TEST_FAKE="wrong=1"
refused 'why-failed j[0-9a-f]*` shows some' sh -c "'$HONE_BIN/hone' tune --text '$small' -q >/dev/null"
echo ok
