# resume.sh -- kill -9 in the middle of a tune loses nothing that was reported: the same
# command goes on from the stored records; a daemon of its own resumes its jobs by itself.
. "$(dirname "$0")/lib.sh"

records()
{
	hone query --text "$middle" --json 2>/dev/null | field trials
}

# A private daemon, killed.
"$HONE_BIN/hone" tune --text "$middle" --trials 200 >"$work/out" 2>"$work/err" &
client=$!
within 60 tuned_some || die "no ten trials within a minute: $(cat "$work/err")"
reported=$(hone jobs --json | field trials)
honed_pid=$(hone boards --json | field pid)
kill -9 "$honed_pid"
wait "$client"
status=$?
[ "$status" -gt 10 ] || die "the client did not notice: $status"
grep -q 'went away' "$work/err" || die "the client said: $(cat "$work/err")"
within 10 gone || die "workers outlived honed: $(ours)"

budget=$((reported + 8))
hone tune --text "$middle" --trials "$budget" --json -q >"$work/more" || die "tune again"
warm=$(field warm <"$work/more")
[ "$warm" -ge "$reported" ] || die "lost records: $warm of $reported reported ones"
[ "$(field trials <"$work/more")" -ge "$budget" ] || die "did not go on: $(cat "$work/more")"
within 10 gone || die "processes stayed"

# A daemon of its own: a killed one's job is resumed without a client.
killed_and_resumed "$HONE_BIN/hone" tune --text "$middle" --trials 400
hone cancel "$job" | grep -q cancelled || die "cancel"

# A clean end: SIGTERM, within ten seconds, all committed, the snapshot fresh.
before=$(hone jobs --json | field trials)
kill -TERM "$honed_pid"
within 10 gone || die "SIGTERM: still there after ten seconds"
wait "$honed_pid" || die "honed ended with $?"
[ "$(records)" -ge "$before" ] || die "snapshot: $(records) of $before"
[ ! -e "$HONE_SOCKET" ] || die "the socket stayed"
echo ok
