# refusals.sh -- bad input: one line with the place, status above 10, nothing stored, nothing
# down.
. "$(dirname "$0")/lib.sh"

store_empty()
{
	[ ! -e "$HONE_HOME/hone.sqlite" ] || die "something was stored"
	gone || die "a process was started"
}

matmul_json()
{
	cat <<-END
	{"format": "compute-dag/1", "ops": [
	 {"kind": "placeholder", "id": "A", "name": "A", "shape": [$1, 8], "dtype": "float32"},
	 {"kind": "compute", "id": "C", "name": "C", "shape": [$1], "dtype": ["float32"],
	  "axes": [["i", 0, $1]], "reduce_axes": [["k", 0, 8]], "tag": "", "attrs": {},
	  "body": [{"reduce": {"lhs": ["x"], "rhs": ["y"], "result": [["add", ["var", "x"], ["var", "y"]]],
	  "identity": [["float", 0, "float32"]]}, "source": [$2], "condition": ["int", 1, "bool"],
	  "init": [], "value_index": 0}]}],
	 "inputs_outputs": ["A", "C"]}
	END
}

load='["load", "A", ["var", "i"], ["var", "k"]]'
matmul_json 4 "$load" >"$work/good.json"
hone dag "$work/good.json" >/dev/null || die "the good one is refused"

bad()
{
	name=$1
	words=$2
	refused "$words" hone tune "$work/$name.json"
	refused "$words" hone dag "$work/$name.json"
	store_empty
}

head -c 200 "$work/good.json" >"$work/truncated.json"
bad truncated 'truncated.json:[0-9]*:[0-9]*: '
matmul_json 4 '["frobnicate", ["var", "i"]]' >"$work/node.json"
bad node 'ops\[1\].*frobnicate'
matmul_json 4 '["load", "A", ["add", ["var", "i"], ["int", 1, "int32"]], ["var", "k"]]' \
	>"$work/bounds.json"
bad bounds 'ops\[1\].*'
matmul_json 4 '["load", "C", ["var", "i"]]' >"$work/cycle.json"
bad cycle 'ops\[1\].*C'
matmul_json 0 "$load" >"$work/zero.json"
bad zero 'ops\[0\].*'
matmul_json 1099511627776 "$load" >"$work/huge.json"
bad huge 'ops\[.*\|huge.json: '
matmul_json 1000000000 "$load" >"$work/memory.json"
bad memory 'memory.json: '
refused 'j' hone tune --text 'f(float32 A[8]) -> C { C(i) = A(j) }'
store_empty
refused 'nothing.json' hone tune "$work/nothing.json"
refused 'FILE' hone tune
refused 'FILE' hone tune "$work/good.json" --text "$small"
refused 'trials' hone tune "$work/good.json" --trials many
refused '0 or more' hone tune "$work/good.json" --trials -1
refused 'no such option' hone tune "$work/good.json" --frob
refused 'did you mean tune' hone tnue "$work/good.json"
echo '[]' >"$work/steps"
refused 'give -o DIR' hone replay "$work/good.json"
refused 'no C name' hone replay "$work/good.json" -o "$work/o" --symbol 'a b' --record "$work/steps"
echo '[["SP", 9, 0, 4, [2], 1]]' >"$work/steps"
refused 'steps' hone replay "$work/good.json" -o "$work/o" --record "$work/steps"
echo '[["SP", 1, 0, 4, [2]' >"$work/steps"
refused 'steps:2:1: ' hone replay "$work/good.json" -o "$work/o" --record "$work/steps"
[ ! -e "$work/o" ] || die "replay wrote something: $(ls "$work/o")"
store_empty

long="$work/$(printf '%0120d' 0)/s"
refused "$(printf '%s' "$long" | wc -c) bytes, the limit is 107" hone tune "$work/good.json" --socket "$long"
store_empty

# A store that cannot be written. Root may write anywhere, but not into a file's folder.
: >"$work/file"
refused 'file' hone tune "$work/good.json" --home "$work/file/home"
refused 'not UTF-8' hone tune "$work/good.json" --home "$work/$(printf 'h\377')"
if [ "$(id -u)" -ne 0 ]; then
	mkdir "$work/readonly" && chmod 500 "$work/readonly"
	refused 'readonly' hone tune "$work/good.json" --home "$work/readonly"
elif setpriv --reuid=65534 --clear-groups true 2>/dev/null; then
	# Somebody else runs it, who may not enter the folder where root has built it.
	mkdir "$work/readonly" "$work/bin" && chmod 755 "$work"
	cp "$HONE_BIN/hone" "$HONE_BIN/honed" "$work/bin"
	refused 'readonly' setpriv --reuid=65534 --clear-groups env HONE_LOG=/dev/null \
		"$work/bin/hone" tune "$work/good.json" --home "$work/readonly" \
		--socket "/tmp/hone-e2e-$$-s/s"
	rm -rf "/tmp/hone-e2e-$$-s"
else
	echo "not checked: a folder that may not be written (root here cannot become another user)"
fi
store_empty
refused 'no honed answers' hone jobs
refused 'no honed answers' hone ping

# The same to a running daemon, straight on its socket: it answers and lives on.
start_honed
refused 'no board' hone tune "$work/good.json" --target 'cpu -num_cores=77'
refused 'policy' hone tune "$work/good.json" --policy magic
refused 'No such file' hone tune "$work/good.json" --policy replay --records "$work/none.log"
refused 'want analytic or learned' hone tune "$work/good.json" --model magic
refused 'none called' hone cancel j0
records=$(hone boards --json | field records)
[ "$records" = 0 ] || die "records: $records"
[ "$(hone jobs --json)" = '{"jobs":[],"sets":[]}' ] || die "jobs: $(hone jobs --json)"
refused 'in use' "$HONE_BIN/honed"
refused 'another honed' "$HONE_BIN/honed" --home "$work/other"
kill -0 "$honed_pid" || die "honed died"
hone stop || die stop
within 10 gone || die "stop left: $(ours)"
echo ok
