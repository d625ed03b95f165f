# killed.sh -- the only board is killed every second while a job runs: it gets something done between
# two deaths, so the job ends with all of its trials, and no program is blamed.
. "$(dirname "$0")/lib.sh"

board()
{
	for dir in /proc/[0-9]*; do
		read -r _ _ _ parent _ 2>/dev/null <"$dir/stat" && [ "$parent" = "$honed_pid" ] || continue
		read -r comm 2>/dev/null <"$dir/comm" && [ "$comm" = hone-board ] && echo "${dir#/proc/}"
	done
}

start_honed
hone tune --text "$small" --trials 60 --json -q >"$work/job" 2>"$work/err" &
client=$!
kills=0
while kill -0 "$client" 2>/dev/null; do
	sleep 1
	pid=$(board)
	[ -n "$pid" ] && kill -9 $pid 2>/dev/null && kills=$((kills + 1))
	[ "$kills" -lt 120 ] || die "not done after $kills kills: $(hone jobs)"
done
wait "$client" || die "tune: $(cat "$work/job" "$work/err")"
[ "$kills" -ge 2 ] || die "$kills kills only"
[ "$(field state <"$work/job")" = done ] || die "$(cat "$work/job")"
[ "$(field trials <"$work/job")" -ge 60 ] || die "ended early: $(cat "$work/job")"
grep -q '"failures":{}' "$work/job" || die "a program is blamed: $(cat "$work/job")"
echo "$kills kills, $(field trials <"$work/job") trials"
hone stop >/dev/null || die stop
echo ok
