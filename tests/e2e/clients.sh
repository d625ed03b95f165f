# clients.sh -- ten clients at once, none of whom finds a daemon: one private daemon serves
# them all; Ctrl-C of one harms no other; the last to go ends it.
. "$(dirname "$0")/lib.sh"

# Five share one workload, five have their own.
pids=
for i in 1 2 3 4 5; do
	"$HONE_BIN/hone" tune --text "$small" --trials 30 --json >"$work/out$i" 2>"$work/err$i" &
	pids="$pids $!"
done
for i in 6 7 8 9 10; do
	text="mm(float32 A[64,$((30 + i))], float32 B[$((30 + i)),32]) -> C { C(i,j) +=! A(i,k) * B(k,j) }"
	"$HONE_BIN/hone" tune --text "$text" --trials 10 --json >"$work/out$i" 2>"$work/err$i" &
	pids="$pids $!"
done

served()
{
	[ "$(hone boards --json 2>/dev/null | field connections)" -ge 11 ] 2>/dev/null
}
within 30 served || die "ten clients did not get in: $(cat "$work"/err*)"
# a job is listed once it is stored
listed()
{
	[ "$(hone jobs --json | grep -o '"job":' | wc -l)" -eq 6 ]
}
within 30 listed || die "jobs are not shared: $(hone jobs)"
first=$(echo $pids | cut -d' ' -f1)
kill -INT "$first"

i=0
for pid in $pids; do
	i=$((i + 1))
	wait "$pid"
	status=$?
	if [ "$pid" = "$first" ]; then
		[ "$status" -eq 130 ] || die "Ctrl-C: status $status: $(cat "$work/err$i")"
		continue
	fi
	[ "$status" -eq 0 ] || die "client $i: status $status: $(cat "$work/err$i")"
	[ "$(field state <"$work/out$i")" = done ] || die "client $i: $(cat "$work/out$i")"
done
within 10 gone || die "the daemon stayed after its last client"

# Ctrl-C of the only one: what was measured is kept, and the machine is quiet within a second
# or so.
"$HONE_BIN/hone" tune --text "$middle" --trials 5000 >"$work/out" 2>"$work/err" &
client=$!
found()
{
	[ "$(hone jobs --json 2>/dev/null | field ok)" -ge 3 ] 2>/dev/null
}
within 60 found || die "nothing was found: $(cat "$work/err")"
kill -INT "$client"
wait "$client"
status=$?
[ "$status" -eq 130 ] || die "Ctrl-C: status $status"
grep -q tuned "$work/out" || die "Ctrl-C printed no table: $(cat "$work/out")"
within 10 gone || die "Ctrl-C left: $(ours)"
hone query --text "$middle" >/dev/null || die "Ctrl-C lost the results"
echo ok
