# set.sh -- several computations, one budget: the weighted sum adds up, trials and seconds are of
# all together, it stops when no round is worth it, and a killed daemon's set goes on by itself.
. "$(dirname "$0")/lib.sh"

echo "$small" >"$work/a.txt"
echo "$middle" >"$work/b.txt"
echo 'f(float32 A[512,512]) -> C { C(i,j) = max(A(i,j), 0) }' >"$work/c.txt"
printf '# how often each occurs\n3 a.txt\n\n  0.5\tb.txt\r\n2 %s/c.txt' "$work" >"$work/list"

# All of a name, in order; what a final says of itself is left out: it has a median_ns, too.
all()
{
	sed 's/"final":{[^}]*},*//g' "$2" | grep -o "\"$1\":[^,}]*" | sed 's/.*://; s/"//g'
}

# adds_up FILE: the set's best_ns is the weighted sum of its jobs'; trials are those of its jobs.
adds_up()
{
	all median_ns "$1" | tail -n +2 >"$work/best"
	[ "$(all weight "$1" | paste - "$work/best" | awk -v sum="$(field median_ns <"$1")" \
		'{ n += $1 * $2 } END { print (n / sum > 0.999999 && n / sum < 1.000001) }')" = 1 ] ||
		die "the weighted sum: $(cat "$1")"
	# each is followed by its budget's
	[ "$(all trials "$1" | tail -n +3 | awk 'NR % 2 { n += $1 } END { print n }')" = \
		"$(field trials <"$1")" ] || die "trials: $(cat "$1")"
}

# On this machine, without a daemon; the same file twice is one task with both weights.
(cd "$work" && hone tune a.txt c.txt a.txt --trials 24 --json -q >set) || die "tune: $(cat "$work/set")"
[ "$(field state <"$work/set")" = done ] && [ "$(field trials <"$work/set")" = 24 ] ||
	die "not done: $(cat "$work/set")"
[ "$(all weight "$work/set" | tr '\n' ' ')" = '2 1 ' ] || die "weights: $(cat "$work/set")"
adds_up "$work/set"
within 10 gone || die "the private daemon stayed"
hone query "$work/a.txt" >/dev/null && hone query "$work/c.txt" >/dev/null || die "nothing stored"
hone tune "$work/a.txt" "$work/c.txt" --trials 24 >"$work/again" 2>&1 || die "again: $(cat "$work/again")"
grep -q 'already holds' "$work/again" || die "measured again: $(cat "$work/again")"
within 10 gone || die "the private daemon stayed"

# A fake board, which answers in a tenth of a second.
HONE_HOME="$work/fake"
HONE_TEST_HOOKS=1 HONE_TEST_FAKE=sleep_ms=20
export HONE_HOME HONE_TEST_HOOKS HONE_TEST_FAKE
start_honed --board fake

made()
{
	[ "$(hone jobs --json | grep -o '"sets":.*' | field trials)" -ge "$1" ] 2>/dev/null
}

"$HONE_BIN/hone" tune --tasks "$work/list" --trials 260 >"$work/out" 2>&1 &
client=$!
within 60 made 90 || die "no trials: $(cat "$work/out")"
# one of its tasks is taken out, and stays out
member=$(hone jobs --json | grep -o '"job":"j[^"]*"' | sed 's/.*:"//; s/"//' | sort -u | tail -1)
out()
{
	hone jobs --json | grep -o "\"job\":\"$member\",\"state\":\"cancelled\""
}
hone cancel "$member" >/dev/null && out >/dev/null || die "$member: not cancelled: $(hone jobs)"
hone jobs --json | grep -o '"sets":.*' >"$work/before"
set=$(field set <"$work/before")
kill -9 "$honed_pid"
wait "$client"
[ $? -gt 10 ] || die "the client did not notice"
wait "$honed_pid" 2>/dev/null
within 10 gone || die "workers outlived honed"
start_honed --board fake
hone jobs --json | grep -o '"sets":.*' >"$work/after"
[ "$(field set <"$work/after")" = "$set" ] || die "not resumed: $(cat "$work/after")"
[ "$(all job "$work/after" | grep '^j')" = "$(all job "$work/before" | grep '^j')" ] || die "other jobs"
within 10 out >/dev/null || die "$member: searched again: $(hone jobs)"

over()
{
	hone jobs --json | grep -o '"sets":.*' >"$work/after"
	[ "$(field state <"$work/after")" = done ]
}
within 120 over || die "the resumed set did not end: $(cat "$work/after")"
[ "$(field trials <"$work/after")" = 260 ] || die "trials: $(cat "$work/after")"
[ "$(field warm <"$work/after")" -ge 90 ] || die "lost records: $(cat "$work/after")"
adds_up "$work/after"
hone why-failed "$(all job "$work/after" | grep '^j' | head -1)" >/dev/null || die "why-failed of a set's job"

# As many as a set may have are taken.
i=0
while [ $i -lt 512 ]; do
	echo "k(float32 A[$((i + 1))]) -> C { C(i) = A(i) + 1 }" >"$work/many$i.txt"
	echo "1 many$i.txt"
	i=$((i + 1))
done >"$work/many"
taken()
{
	hone jobs --json | grep -o '"sets":.*' >"$work/after"
	[ "$(all weight "$work/after" | wc -l)" -ge 512 ]
}
"$HONE_BIN/hone" tune --tasks "$work/many" --trials 5120 -q >"$work/out" 2>&1 &
client=$!
within 60 taken || die "512 tasks: $(cat "$work/out")"
kill -INT "$client"
wait "$client"
[ $? -eq 130 ] || die "512 tasks: $(cat "$work/out")"

# Seconds are of all together; what a round is expected to bring ends it; a task by itself, too.
began=$(date +%s)
hone tune --tasks "$work/list" --seconds 4 --seed 2 --json -q >"$work/set" || die "seconds"
[ $(($(date +%s) - began)) -le 20 ] || die "four seconds took $(($(date +%s) - began))"
hone tune "$work/a.txt" --stop-gain 0.5 --strategy round-robin >"$work/out" 2>&1 || die "stop-gain"
grep -q 'expected to gain 0.5 %' "$work/out" || die "did not stop: $(cat "$work/out")"

# Cancelled by another, and by its own client.
for how in cancel interrupt; do
	"$HONE_BIN/hone" tune --tasks "$work/list" --trials 100000 >"$work/out" 2>&1 &
	client=$!
	within 30 sh -c "\"$HONE_BIN/hone\" jobs --json | grep -q '\"sets\":.*\"state\":\"search\"'" ||
		die "it did not start: $(cat "$work/out")"
	if [ $how = cancel ]; then
		set=$(hone jobs | grep '^set.*search' | sed 's/set \(.*\): .*/\1/')
		hone cancel "$set" | grep -q cancelled || die "cancel $set"
	else
		kill -INT "$client"
	fi
	wait "$client"
	status=$?
	[ $status -eq $([ $how = cancel ] && echo 16 || echo 130) ] || die "$how: status $status: $(cat "$work/out")"
	grep -q '^ *sum ' "$work/out" || die "$how: no table: $(cat "$work/out")"
done

# Bad input: one line, and nothing runs.
bad_list()
{
	printf "$1" >"$work/bad"
	refused "$2" hone tune --tasks "$work/bad"
}
bad_list '1 a.txt\nx b.txt\n' 'bad:2: .*WEIGHT FILE'
bad_list '0 a.txt\n' 'bad:1: .*above 0'
bad_list '1e999 a.txt\n' 'bad:1: .*above 0'
bad_list '1\n' 'bad:1: '
bad_list '2 \n' 'bad:1: no file'
bad_list '# none\n' 'no lines'
bad_list '1 nothing.txt\n' 'nothing.txt'
yes '1 a.txt' | head -513 >"$work/bad"
refused 'more than 512' hone tune --tasks "$work/bad"
refused 'nolist' hone tune --tasks "$work/nolist"
refused 'not both' hone tune "$work/a.txt" --tasks "$work/list"
refused 'name' hone tune "$work/a.txt" "$work/b.txt" --name x
refused 'want gradient or round-robin' hone tune "$work/a.txt" "$work/b.txt" --strategy fair
refused 'stop_gain' hone tune "$work/a.txt" --stop-gain 101
refused 'at most 1e+09' hone tune --tasks - <<-END
	2e9 $work/a.txt
END
refused 'none called' hone cancel s0
if hone jobs --json | grep -q '"state":"\(new\|search\|naive\)"'; then
	die "something runs: $(hone jobs)"
fi
hone stop || die stop
within 10 gone || die "stop left: $(ours)"
echo ok
