#!/bin/sh
# bench/gpu/contest.sh runs every row that is asked for, and a row without a time says why; the
# table names the library's time over hone's best.  A stand-in answers for hone.
set -eu

source=${HONE_SOURCE:?}
work=$(mktemp -d "${TMPDIR:-/tmp}/hone contest-XXXXXX")
trap 'rm -rf "$work"' EXIT

die()
{
	printf '%s\n' "$*" >&2
	exit 1
}

# A search finds better; one row is refused.
cat >"$work/hone" <<'END'
#!/bin/sh
case "$*" in
"board list --json")
	printf '{"devices":[{"kind":"opencl","index":0,"target":"opencl","cores":2,"shared_bytes":9},'
	printf '{"kind":"cuda","index":0,"name":"G","driver":"d","target":"cuda -isa=sm_90","cores":7,'
	echo '"threads":1024,"shared_bytes":1234,"memory_bytes":5}]}'
	exit
	;;
*"--target cuda -isa=sm_90a -num_cores=7 -max_shared_memory_per_block=1234 "*product-bf16*) ;;
*product-bf16*) echo "hone: wrong target: $*" >&2 && exit 1 ;;
*"--target cuda -isa=sm_90 -num_cores=7 -max_shared_memory_per_block=1234 "*) ;;
*) echo "hone: wrong target: $*" >&2 && exit 1 ;;
esac
case "$*" in
*product-f32-2048*) echo 'hone: no board for "cuda": say "so"' >&2 && exit 1 ;;
*"--policy unconfirmed --trials 4 "*)
	echo '{"state":"done","median_ns":1700,"ms":1,"steps":[["TE",2,[4,5,6],"wgmma_m64n8k16_bf16"],["PL",4,0,4,4]]}'
	;;
*"--policy unconfirmed"*) echo '{"state":"done","median_ns":1600,"ms":1}' ;;
*"--trials 16"*) echo '{"state":"done","median_ns":2000.5,"ms":1}' ;;
*"--seconds 7"*) echo '{"state":"done","median_ns":1000,"ms":1}' ;;
esac
END
chmod +x "$work/hone"
HONE=$work/hone sh "$source/bench/gpu/contest.sh" --seconds 7 --rows 'product-f32-[12]*' \
	"$work/out" >"$work/table" 2>/dev/null
grep -v '"who":"\(library\|inductor\|triton\)"' "$work/out" >"$work/own"
[ "$(wc -l <"$work/own")" = 4 ] || die "four times expected: $(cat "$work/out")"
grep -q '"row":"product-f32-1024","who":"rules","ns":2000.5' "$work/own" || die "$(cat "$work/own")"
grep -q '"row":"product-f32-2048","who":"rules","ns":null.*no board for cuda: say so' "$work/own" ||
	die "no reason: $(cat "$work/own")"

# A product in bfloat16 has a row of warpgroups' own, which counts as hone's.
HONE=$work/hone sh "$source/bench/gpu/contest.sh" --peers none --rows 'product-bf16-1024' \
	"$work/out" >"$work/table" 2>/dev/null
grep -q '"row":"product-bf16-1024","who":"wgmma","ns":1600,.*"way":"threads"' "$work/out" ||
	die "$(cat "$work/out")"
grep -q '"row":"product-bf16-1024","who":"tma","ns":1700,.*"way":"tma"' "$work/out" ||
	die "$(cat "$work/out")"
echo '{"row": "product-bf16-1024", "who": "library", "ns": 800.0}' >>"$work/out"
sh "$source/bench/gpu/table.sh" "$work/out" >"$work/table"
grep -q '^product-bf16-1024 *2.0 *1.7 *1.6 *- *0.8 *- *- *0.50 *$' "$work/table" ||
	die "table: $(cat "$work/table")"

# With a library's time behind, the ratio is to the best of hone's.
echo '{"row": "product-f32-1024", "who": "library", "ns": 1500.0}' >>"$work/own"
sh "$source/bench/gpu/table.sh" "$work/own" >"$work/table"
grep -q '^product-f32-1024 *2.0 *- *- *1.0 *1.5 *- *- *1.50 *$' "$work/table" ||
	die "table: $(cat "$work/table")"
grep -q '^product-f32-2048 .* no board for cuda' "$work/table" || die "table: $(cat "$work/table")"

# every row is a computation that hone reads
for row in "$source"/bench/gpu/rows/*.txt; do
	"$HONE_BIN/hone" dag "$row" >"$work/dag" 2>&1 || die "$row: $(cat "$work/dag")"
	grep -q '^# peer: [a-z]* [a-z0-9]*\( [0-9]*\)*$' "$row" || die "$row names no peer"
done
