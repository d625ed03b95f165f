# targets.sh -- one honed serves this machine and two fake ones at once: their jobs run at the same
# time, each record is its target's, what befalls the boards of one leaves the others alone, and
# after kill -9 each job goes on where it belongs.
. "$(dirname "$0")/lib.sh"
: "${HONE_STORE_SQL:?}"

mkdir -p "$HONE_HOME"
targets=$HONE_HOME/targets

# says WORDS ROW...: honed refuses a file of these rows.
says()
{
	words=$1
	shift
	printf '%s\n' "$@" >"$targets"
	refused "$words" "$HONE_BIN/honed"
}
says 'targets:2: "fake" begins a target line' '# a comment' 'fake fake'
says 'targets:2: there are two called "a"' 'a fake' 'a fake -l2_bytes=4096'
says 'targets:1: "a/b" is no name' 'a/b fake'
says 'targets:1: "a" has no target line' 'a boards=2'
says 'targets:1: "boards=0": want boards=1 to boards=64' 'a fake boards=0'
says 'targets:1: "builders=x": want' 'a builders=x fake'
says 'targets: b: it is the same target as "a"' 'a fake' 'b fake -num_cores=4'
says 'targets: a: this machine is one board, and is served as "native"' 'a native -num_cores=1'
says "targets: a: target: '-l2_bytes=lots'" 'a fake -l2_bytes=lots'
says 'targets:1: ".*" is no name' "$(printf '\033[31m fake')"
grep -q "$(printf '\033')" "$work/err" && die "the name acts on the terminal"
rm "$targets" && mkfifo "$targets"
refused 'targets: a pipe, not a file' timeout 20 "$HONE_BIN/honed"
rm "$targets"

cat >"$targets" <<'END'
# what honed serves beside this machine
two  boards=2 builders=1 fake -l2_bytes=2097152

one  fake -num_cores=8 builders=1
card cuda -isa=sm_90
END
export HONE_TEST_HOOKS=1 HONE_TEST_FAKE="sleep_ms=100" HONE_CUDA_DRIVER=/nonexistent.so
start_honed
for name in native two one; do
	hone boards | grep -q "^name    $name, 0 jobs" || die "no $name: $(hone boards)"
done
refused "served here: native (cpu -isa=.*), two (fake -isa=fake), one (fake" \
	hone tune --target three --text "$middle" --trials 8
refused "no board for target \"fake .*l2_bytes=4096 .*\"; served here: native" \
	hone tune --target "fake -l2_bytes=4096" --text "$middle" --trials 8

# A kind whose driver is not installed can be named: its sketches are there, and nothing is measured.
refused "target card: /nonexistent.so cannot be loaded: NVIDIA's driver is not installed" \
	hone tune --target card --text "$middle" --trials 8
hone jobs --all --json | grep -q '"target_name":"card"' && die "a job that cannot run: $(hone jobs --all)"
hone sketch --target card --text "$middle" >"$work/card" || die "sketch --target card"
hone sketch --target "cuda -isa=sm_90" --text "$middle" | cmp - "$work/card" || die "sketch: not card's"
refused "'crad' is no kind (native, cpu, cuda, opencl, npu, fake) and no name in .*/targets (two, one, card)" \
	hone query --target crad --text "$middle"

# job_field NAME FIELD: of the live or ended job on that target.
job_field()
{
	hone jobs --json | sed 's/{"job"/\n&/g' | grep "\"target_name\":\"$1\"" | field "$2"
}

# Each has measured some of what it will, beside what was stored, and none has all.
all_busy()
{
	for name in native two one; do
		n=$(job_field $name trials) stored=$(job_field $name warm)
		[ $((${n:-0} - ${stored:-0})) -ge 5 ] || return 1
		[ "$(job_field $name state)" = search ] || die "$name has ended: $(hone jobs)"
	done
}

# tune_all: a job on each, of clients that nobody waits for.
tune_all()
{
	hone tune --text "$middle" --trials 2000 --json -q >"$work/native" 2>/dev/null &
	hone tune --text "$middle" --trials 400 --json -q --target two >"$work/two" 2>/dev/null &
	hone tune --text "$middle" --trials 4000 --json -q --target "fake -num_cores=8" \
		>"$work/one" 2>/dev/null &
}
tune_all
within 60 all_busy || die "not all at once: $(hone jobs)"
for name in native two one; do
	eval "job_$name=$(job_field $name job)"
done

# Killed in the middle: each goes on, under its id and on its boards, from what it had.
kill -9 "$honed_pid"
wait
within 10 gone || die "workers outlived honed"
start_honed
for name in native two one; do
	eval "job=\$job_$name"
	[ "$(job_field $name job)" = "$job" ] || die "$name is not resumed: $(hone jobs)"
done
within 60 all_busy || die "not all resumed: $(hone jobs)"

# The boards of one are killed again and again: only its own job may suffer.
kill_boards()
{
	for pid in $(ours); do
		tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q 'hone-board.*num_cores=8 ' &&
			kill -9 "$pid"
	done 2>/dev/null
}
ended()
{
	kill_boards
	[ "$(job_field two state)" = done ]
}
within 90 ended || die "two did not end: $(hone jobs)"
[ "$(job_field two trials)" = 400 ] || die "two: $(hone jobs)"
[ "$(job_field native state)" = search ] || die "native: $(hone jobs)"
hone boards --json | sed 's/{"board"/\n&/g' >"$work/boards"
grep '"target":"one"' "$work/boards" | grep -q '"lost":[1-9]' || die "none lost: $(cat "$work/boards")"
grep -E '"target":"(two|native)"' "$work/boards" | grep -q '"lost":[1-9]' &&
	die "others lost boards: $(cat "$work/boards")"
hone cancel "$job_native" >/dev/null || die "cancel native"
hone cancel "$job_one" >/dev/null || die "cancel one" # unless that ended it

# Names are the client's too, without honed.
hone stop || die "stop"
within 10 gone || die "processes stayed"
[ "$(hone query --target two --text "$middle" --json | field codegen)" = none ] || die "query two"
hone query --target one --text "$middle" --json | grep -q '"target":"fake .*num_cores=8 ' || die "query one"
hone ls >"$work/ls" || die "ls"
for name in two one; do
	grep -q " $name\$" "$work/ls" || die "ls names no $name: $(cat "$work/ls")"
done

# In the store: which target, made by what; and they took turns all along.
sql()
{
	"$HONE_STORE_SQL" "$HONE_HOME/hone.sqlite" "$1" || die "store_sql: $1"
}
sql "SELECT DISTINCT line || ' ' || codegen || '|' FROM record, target, stamp
	WHERE target.id = target_id AND stamp.id = stamp_id AND verdict = 'OK'" >"$work/stamps"
[ "$(wc -l <"$work/stamps")" = 3 ] || die "not one stamp each: $(cat "$work/stamps")"
grep -q '^cpu .* cpu/LLVM [0-9]*\.[0-9]*\.[0-9]*|$' "$work/stamps" || die "stamps: $(cat "$work/stamps")"
[ "$(grep -c '^fake .* none|$' "$work/stamps")" = 2 ] || die "stamps: $(cat "$work/stamps")"
turns=$(sql "SELECT sum(a.target_id != b.target_id) FROM record AS a JOIN record AS b ON b.id = a.id + 1")
[ "$turns" -ge 10 ] || die "records of $turns turns: not at the same time"

# A job whose target is served no more ends, and says so; its records stay.
start_honed
hone tune --text "$small" --trials 400 -q --target two >/dev/null 2>&1 &
within 60 tuned_some || die "no trials: $(hone jobs)"
job=$(hone jobs --json | field job)
kill -9 "$honed_pid"
wait
within 10 gone || die "workers outlived honed"
grep -v '^two' "$targets" >"$work/rest" && cp "$work/rest" "$targets"
start_honed
hone jobs --all >"$work/jobs"
grep "$job" "$work/jobs" | grep -q 'dropped.*no board for target "fake .*served here: native' ||
	die "not told: $(cat "$work/jobs")"
hone stop || die "stop"
echo ok
