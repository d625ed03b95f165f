# faults.sh -- kernels that hang, write out of bounds or divide by zero, planted by the builder:
# each becomes a classified failure within its time limit, and tuning goes on.
. "$(dirname "$0")/lib.sh"

export HONE_TEST_HOOKS=1 HONE_TEST_PLANT="hang,oob,div0,wrong"
hone tune --text "$middle" --trials 40 --json -q >"$work/tuned" || die "tune: $(cat "$work/tuned")"
[ "$(field state <"$work/tuned")" = done ] || die "not done: $(cat "$work/tuned")"
[ "$(field trials <"$work/tuned")" = 40 ] || die "stopped early: $(cat "$work/tuned")"
[ "$(field ok <"$work/tuned")" -ge 20 ] || die "few went on: $(cat "$work/tuned")"
for class in HANG SEGV FPE WRONG_RESULT; do
	grep -q "\"$class[A-Z_]*\":[1-9]" "$work/tuned" || die "no $class: $(cat "$work/tuned")"
done
within 10 gone || die "processes stayed"

# They are stored as what they were, and none of them is the best.
unset HONE_TEST_HOOKS HONE_TEST_PLANT
hone query --text "$middle" --json >"$work/best" || die query
[ "$(field failed <"$work/best")" -ge 4 ] || die "failures are not stored: $(cat "$work/best")"

hone_quiet_fail()
{
	hone tune --text "$small" --trials 500 -q >/dev/null
}

# When nothing at all works, the job ends soon and says why.
plant=wrong
for i in 1 2 3 4 5; do
	plant="$plant,$plant"
done
export HONE_TEST_HOOKS=1 HONE_TEST_PLANT="$plant"
refused 'the first 2[0-9]* candidates all ended as WRONG_RESULT' hone_quiet_fail
echo ok
