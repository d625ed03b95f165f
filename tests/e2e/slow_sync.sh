# slow_sync.sh -- a disk that takes long for each sync: the loop never waits for one, so clients are
# answered; many records share a sync; and what a client was told of is there after kill -9.
. "$(dirname "$0")/lib.sh"

: "${HONE_SLOW_SYNC:?}"
export HONE_SYNC_LOG="$work/syncs"

start_slow()
{
	HONE_SYNC_MS=$1 LD_PRELOAD=$HONE_SLOW_SYNC "$HONE_BIN/honed" --board fake &
	honed_pid=$!
	within 60 hone ping >/dev/null 2>&1 || die "honed does not answer"
}

syncs() # by any thread, or by the one given
{
	grep -c "${1:-.}" "$HONE_SYNC_LOG"
}

trials()
{
	hone jobs --json 2>/dev/null | field trials
}

at_least()
{
	[ "$(trials)" -ge "$1" ] 2>/dev/null
}

# One sync for many records.
start_slow 50
: >"$HONE_SYNC_LOG" # opening and checking the store is over
hone tune --text "$small" --trials 400 --seed 1 --quiet >/dev/null || die tune
echo "400 trials: $(syncs) syncs, $(syncs loop) of them by the loop"
[ "$(syncs other)" -ge 10 ] || die "$(syncs) syncs: is slow_sync there at all?"
[ "$(syncs)" -lt 400 ] || die "$(syncs) syncs for 400 trials"
[ "$(syncs loop)" -eq 0 ] || die "the loop has waited for $(syncs loop) syncs"
kill -9 "$honed_pid"
wait "$honed_pid" 2>/dev/null
within 10 gone || die "workers outlived honed"

# With syncs of half a second, clients are answered several times between two of them.
start_slow 500
hone tune --text "$middle" --trials 100000 --seed 1 --quiet >/dev/null 2>&1 &
within 60 at_least 10 || die "no trials: $(hone jobs)"
before=$(syncs)
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	hone ping >/dev/null || die ping
	hone jobs >/dev/null || die jobs
	hone ls >/dev/null || die ls
done
n=$(($(syncs) - before))
echo "60 answers in the time of $n syncs"
[ "$n" -lt 20 ] || die "60 answers took as long as $n syncs"
kill -9 "$honed_pid"
wait
within 10 gone || die "workers outlived honed"

# What was told is there.
told=10
for round in 1 2 3 4 5; do
	start_slow 200
	job=$(hone jobs --json | field job)
	[ -n "$job" ] || die "round $round: the job is gone"
	within 60 at_least $((told + 20)) || die "no trials: $(hone jobs)"
	told=$(trials)
	kill -9 "$honed_pid"
	wait
	within 10 gone || die "workers outlived honed"
	start_honed --board fake
	[ "$(hone jobs --json | field job)" = "$job" ] || die "not resumed: $(hone jobs)"
	within 20 at_least 1 || die "nothing is read: $(hone jobs)"
	[ "$(trials)" -ge "$told" ] || die "$told trials were told, $(trials) are there"
	kill -9 "$honed_pid"
	wait
	within 10 gone || die "workers outlived honed"
done
echo ok
