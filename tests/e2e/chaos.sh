# chaos.sh [KILLS] -- builders, boards and the children that run kernels are killed and stopped at
# random while jobs run (30 times; the label slow: 500): every job ends as done with all of its
# trials, and no program is blamed for it.
. "$(dirname "$0")/lib.sh"

kills=${1:-30}
jobs=0
done=0

children()
{
	cat "/proc/$1/task/"*/children 2>/dev/null
}

named()
{
	for pid in $(children "$honed_pid"); do
		read -r comm 2>/dev/null <"/proc/$pid/comm" && [ "$comm" = "$1" ] && echo "$pid"
	done
}

# One process of the kind whose turn it is; the draw is the same each time.
victim()
{
	case $((turn % 6)) in
	0 | 2 | 4) set -- $(named hone-build) ;;
	1 | 3) set -- $(for pid in $(named hone-board); do children "$pid"; done) ;;
	5) set -- $(named hone-board) ;;
	esac
	[ $# -gt 1 ] && [ $((turn / 6 % 2)) = 1 ] && shift
	echo "${1:-}"
}

# Every tenth is stopped for a moment instead.
strike()
{
	pid=$(victim)
	[ -n "$pid" ] || return 1
	if [ $((turn % 10)) = 9 ]; then
		kill -STOP "$pid" 2>/dev/null || return 1
		sleep 0.3
		kill -CONT "$pid" 2>/dev/null
	else
		kill -9 "$pid" 2>/dev/null || return 1
	fi
}

job()
{
	n=$((8 + jobs % 24))
	hone tune --text "mm(float32 A[$n,16], float32 B[16,$((n + 8))]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" \
		--trials 40 --json -q >"$work/job" 2>"$work/job.err"
}

start_honed
turn=0
while [ "$turn" -lt "$kills" ]; do
	job &
	client=$!
	jobs=$((jobs + 1))
	while kill -0 "$client" 2>/dev/null && [ "$turn" -lt "$kills" ]; do
		if strike; then
			turn=$((turn + 1))
			# boards need a while to come back, and to be believed
			[ $((turn % 6)) != 0 ] || sleep 1
		fi
		sleep 0.02
	done
	wait "$client" || die "job $jobs: $(cat "$work/job" "$work/job.err")"
	[ "$(field state <"$work/job")" = done ] || die "job $jobs: $(cat "$work/job")"
	[ "$(field trials <"$work/job")" -ge 40 ] || die "job $jobs ended early: $(cat "$work/job")"
	for class in ILLEGAL OVER_LIMIT BUILD_FAIL BUILD_TIMEOUT LOAD_FAIL SEGV SEGV_GUARD \
		STACK_OVERFLOW ILL FPE BUS OOM HANG EXIT SANDBOX WRONG_RESULT NONDETERMINISTIC \
		IMPLAUSIBLE; do
		! grep -q "\"$class\"" "$work/job" || die "job $jobs blames a program: $(cat "$work/job")"
	done
	done=$((done + 1))
done
hone ping >/dev/null || die "honed has gone"
echo "$turn killed or stopped, $done of $jobs jobs done, nobody blamed"
hone stop || die "stop"
within 10 gone || die "processes stayed"
echo ok
