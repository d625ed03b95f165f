# import.sh -- a log of another tuner's, measured here: each line is told, what is bad is left out, a
# second run measures nothing, and what is exported comes back the same; hostile logs and maps.
. "$(dirname "$0")/lib.sh"

mm='mm(float32 A[24,32], float32 B[32,16]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
key='[\"mm\", [24, 32], [32, 16]]'
cat >"$work/map" <<EOF
# keys of a log
{"workload_key": "$key", "text": "$mm"}
{"workload_key": "other", "file": "add.txt", "name": "sum"}
EOF
echo 'add(float32 A[64]) -> C { C(i) = A(i) + 1 }' >"$work/add.txt"

# line KEY STEPS COST ERROR [TARGET]
line()
{
	printf '{"i": [["%s", "%s", [2, 64, 64, 0, 0, 0, 0, 0], "", 1, []], [[], %s]], "r": [[%s], %s, 0.1, 1700000000], "v": "v0.6"}\n' \
		"$1" "${5:-llvm -keys=cpu}" "$2" "$3" "$4"
}
{
	line "$key" '[["SP", 2, 0, 24, [4], 1], ["SP", 2, 2, 16, [8], 1], ["RE", 2, [0, 2, 4, 1, 3]], ["AN", 2, 4, 2]]' 0.00125 0
	echo 'not a record'
	line "$key" '[]' 0.5 0
	line "$key" '[["PR", 2, 0, "auto_unroll_max_step$0"]]' 0.25 0
	line nobody '[]' 1 0
	line "$key" '[["SP", 2, 0, 512, [4], 1]]' 1 0
	line "$key" '[["AN", 2, 0, 3]]' 1e+10 4
	line "$key" '[["AN", 2, 0, 3]]' 1 0 'cuda -keys=cuda'
	line other '[["AN", 1, 0, 2]]' 0.125 0
	line "$key" '[["AN", 2, 7, 3]]' 1 0
} >"$work/ansor"

hone records import "$work/ansor" --dag "$work/map" -q >"$work/out" 2>"$work/err"
[ $? -gt 10 ] || die "a bad line is no failure"

# told LINE WORDS: of that line of the log, in the latest report
told()
{
	grep -q "^$work/ansor:$1: $2" "$work/out" || die "line $1: want '$2': $(cat "$work/out" "$work/err")"
}

# counted WORDS: how the latest report ends
counted()
{
	tail -1 "$work/out" | grep -q "^$1" || die "want '$1': $(cat "$work/out" "$work/err")"
}

told 1 '[0-9.]* [num]*s here, 1.250 ms in the log, rank [123] of [0-9]*$'
told 3 '[0-9.]* [num]*s here, 500.0 ms in the log'
told 4 'the program of line 3$'
told 5 'left out: no computation for its workload key, nobody$'
told 6 'left out: step 0 splits a loop of 512, which has 24 iterations in this computation'
told 7 'left out: it failed where it was measured, error 4'
told 8 'left out: made for another target, "cuda'
told 9 '[0-9.]* [num]*s here, 125.0 ms in the log'
told 10 'left out: step 0: AN stage 2 (C) iter 7'
grep -q "ansor:2:[0-9]*: " "$work/err" || die "the bad line is not told: $(cat "$work/err")"
grep -q '^mm (workload [0-9a-f]*): fastest is line [13], .* is the best now$' "$work/out" || die "$(cat "$work/out")"
grep -q '^sum (workload ' "$work/out" || die "no name: $(cat "$work/out")"
counted '10 lines: 3 measured now, 0 before, 1 repeat others, 0 not right here, 0 not measured, 5 left out, 1 bad$'
hone explain -e "$mm" >"$work/said" 2>&1
grep -q imported "$work/said" || die "no provenance: $(cat "$work/said")"

# Once more: all is known.
hone records import "$work/ansor" --dag "$work/map" -q >"$work/out" 2>"$work/err"
told 1 '.*(measured before)$'
told 9 '.*(measured before)$'
counted '10 lines: 0 measured now, 3 before, 1 '

# The way back: under the log's keys, in Ansor's language; and here again, into another store.
hone records export --dag "$work/map" >"$work/back" || die "no export"
[ "$(wc -l <"$work/back")" = 2 ] || die "$(cat "$work/back")"
grep -qF "\"$key\"" "$work/back" || die "another key: $(cat "$work/back")"
[ "$(grep -c '"v": "v0.6"' "$work/back")" = 2 ] || die "$(cat "$work/back")"
second()
{
	HONE_HOME="$work/home2" HONE_SOCKET="$work/run/s2" hone "$@"
}
second records import "$work/back" --dag "$work/map" -q >"$work/out" || die "$(cat "$work/out")"
counted '2 lines: 2 measured now, 0 before, 0 repeat'
second records export --dag "$work/map" >"$work/back2" || die "no export"
steps='s/.*\[\[\], \(.*\)\]\], "r".*/\1/'
sed "$steps" "$work/back" >"$work/steps"
sed "$steps" "$work/back2" >"$work/steps2"
cmp "$work/steps" "$work/steps2" || die "$(cat "$work/back" "$work/back2")"

# Under hone's own key, where the map names none.
echo "{\"text\": \"$mm\"}" >"$work/own.map"
hone records export -e "$mm" >"$work/own" 2>&1 || die "$(cat "$work/own")"
hone records import "$work/own" --dag "$work/own.map" -q >"$work/out" || die "own keys: $(cat "$work/out")"
counted '1 lines: 0 measured now, 1 before'
refused 'not both' hone records export --dag "$work/map" -e "$mm"

# Hostile logs: a line each, told with its number, and bounded.
{
	line "$key" '[["SP", 2, 0, 99999999999999999999, [4], 1]]' 1 0
	line "$key" '[["SP", 2, 0, 24, [4], 1]]' 1e999 0
	line 'a\"b\n\u0001' '[]' 1 0
	printf '{"i": [["a\000b"\n'
	printf '{"i": %s\n' "$(head -c 100000 /dev/zero | tr '\0' '[')"
	head -c 6000000 /dev/zero
	echo
	head -c 6000000 /dev/zero | tr '\0' '{'
	echo
	line "$key" '[["AN", 9999999, 0, 3]]' 1 0
	line "$key" "[[\"PR\", 2, 0, \"$(head -c 300 /dev/zero | tr '\0' x)\"]]" 1 0
	line other '[["AN", 1, 0, 2]]' 0.125 0
} >"$work/ansor"
hone records import "$work/ansor" --dag "$work/map" -q >"$work/out" 2>"$work/err"
[ $? -gt 10 ] || die "hostile, and no failure"
told 10 '.*(measured before)$'
for n in 1 2 3 4 5 6 7 8 9; do
	[ "$(cat "$work/out" "$work/err" | grep -c "ansor:$n:")" = 1 ] || die "line $n: $(head -c 3000 "$work/out" "$work/err")"
done
[ "$(wc -c <"$work/err")" -lt 6000 ] || die "$(head -c 3000 "$work/err")"
grep -q '[^ -~]' "$work/out" "$work/err" && die "bytes that are no text: $(head -c 3000 "$work/out" "$work/err" | cat -v)"

# Maps.
refused 'import takes a file' hone records import - --dag "$work/map"
refused 'give a LOG, and --dag MAP' hone records import "$work/ansor"
for bad in '{"workload_key": "a"}' '{"workload_key": "", "text": "x"}' '{"workload_key": 3, "text": "x"}' 'x' '[1]' \
	'{"workload_key": "a", "file": "nowhere"}' '{"workload_key": "a", "text": "x", "file": "y"}'; do
	echo "$bad" >"$work/bad"
	refused 'bad:1: ' hone records import "$work/ansor" --dag "$work/bad"
done
printf '{"workload_key": "a", "file": "add.txt"}\n{"workload_key": "a", "file": "add.txt"}\n' >"$work/bad"
refused 'bad:2: the key of line 1 once more' hone records import "$work/ansor" --dag "$work/bad"
printf 'a\000b' >"$work/bad"
refused 'a NUL byte' hone records import "$work/ansor" --dag "$work/bad"
: >"$work/bad"
refused 'no computation in it' hone records import "$work/ansor" --dag "$work/bad"
