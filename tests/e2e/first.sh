# first.sh -- a computation whose naive program takes long: an answer whatever the budget, references
# by programs in its stead, and one naive time for all jobs.
. "$(dirname "$0")/lib.sh"

large='mm(float32 A[512,512], B[512,512]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'

# Seconds too few for one measurement.
hone tune --text "$large" --seconds 0.01 --json -q >"$work/one" 2>&1 || die "tune: $(cat "$work/one")"
naive=$(field naive_ns <"$work/one")
share=$(field naive_share <"$work/one")
[ "$(field state <"$work/one")" = done ] || die "not done: $(cat "$work/one")"
awk "BEGIN { exit !($(field median_ns <"$work/one") > 0 && $naive > 0) }" ||
	die "no answer: $(cat "$work/one")"
awk "BEGIN { exit !($share > 0 && $share < 1) }" || die "naive_share: $(cat "$work/one")"
case $(field inputs <"$work/one") in
*"compared with wider sums") ;;
*) die "inputs: $(cat "$work/one")" ;;
esac
hone query --text "$large" >"$work/query" || die "query after a small budget"
grep -q 'naive .* slower  estimated from 1/[0-9]* of its iterations' "$work/query" ||
	die "query: not said to be an estimate: $(cat "$work/query")"
[ -n "$(hone query --text "$large" --json | field naive_share)" ] || die "query --json: no naive_share"

# Another daemon, another job: the same time, and the same words about it.
within 10 gone || die "the private daemon stayed"
hone tune --text "$large" --trials 20 --json -q >"$work/two" 2>&1 || die "tune: $(cat "$work/two")"
[ "$(field naive_ns <"$work/two")" = "$naive" ] && [ "$(field naive_share <"$work/two")" = "$share" ] ||
	die "another naive time: $(cat "$work/one" "$work/two")"
hone tune --text "$large" --trials 21 -q >"$work/three" 2>&1 || die "tune: $(cat "$work/three")"
grep -q 'naive .*estimated from 1/[0-9]* of its iterations' "$work/three" ||
	die "not said to be an estimate: $(cat "$work/three")"
within 10 gone || die "the private daemon stayed"

# So do the tasks of a set, each of them, and no more than that.
HONE_TEST_HOOKS=1 HONE_TEST_FAKE=sleep_ms=20
export HONE_TEST_HOOKS HONE_TEST_FAKE
start_honed --board fake
for n in 8 16 24 32; do
	echo "m$n(float32 A[$n,$n], B[$n,$n]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" >"$work/m$n.txt"
done
hone tune "$work/m8.txt" "$work/m16.txt" "$work/m24.txt" "$work/m32.txt" --seconds 0.01 --json -q \
	>"$work/set" 2>&1 || die "tune: $(cat "$work/set")"
[ "$(field state <"$work/set")" = done ] || die "not done: $(cat "$work/set")"
[ "$(field trials <"$work/set")" -le 16 ] || die "went on: $(cat "$work/set")"
for n in 8 16 24 32; do
	hone query "$work/m$n.txt" --target fake >/dev/null || die "m$n: no answer: $(cat "$work/set")"
done
hone stop >/dev/null || die stop

# No board ever answers: the automatic schedule is stored, and answered as not measured.
within 10 gone || die "processes stayed"
HONE_TEST_FAKE=lost=1 start_honed --board fake
echo "m40(float32 A[40,40], B[40,40]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" >"$work/m40.txt"
hone tune "$work/m40.txt" --trials 5 --json -q >"$work/none" 2>&1 && die "measured: $(cat "$work/none")"
hone query "$work/m40.txt" --target fake >"$work/query" || die "no answer: $(cat "$work/none")"
grep -q 'nothing measured yet; this is the automatic schedule' "$work/query" || die "$(cat "$work/query")"
hone query "$work/m40.txt" --target fake --json >"$work/query" || die "no answer"
grep -q '"record":null,"median_ns":null' "$work/query" || die "not said to be unmeasured: $(cat "$work/query")"
hone ls | grep -q 'm40 .* - .*not measured' || die "ls: $(hone ls)"
hone stop >/dev/null || die stop
wait $honed_pid

# What is measured takes its place, and a later start keeps both in order.
start_honed --board fake
hone tune "$work/m40.txt" --trials 5 -q >/dev/null || die "tune"
hone query "$work/m40.txt" --target fake --json >"$work/query" || die "query"
awk "BEGIN { exit !($(field median_ns <"$work/query") > 0) }" || die "not measured: $(cat "$work/query")"
hone stop >/dev/null || die stop
echo ok
