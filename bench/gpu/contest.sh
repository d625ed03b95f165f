#!/bin/sh
# contest.sh -- hone's kernels for this machine's GPU against the libraries', in one run.
#
#     contest.sh [--seconds S] [--rows PATTERN] [--target LINE] [--peers none|all] OUT.jsonl
#
# Each file of rows/ is a computation.  hone measures what its rules make of it, with no search and
# for at most 20 seconds (`rules`; `tma`: what warpgroups make of a product whose factors come by bulk
# copies; `wgmma`: of those, and of others whose factors come by threads), and with S > 0 what it finds
# in S seconds more (`tuned`).
# peers.py times the same computation by cuBLAS, cuDNN and PyTorch, where python3 has it, and with
# `all` by torch.compile and Triton. OUT gets one JSON object a line: row, who, ns, or why there is
# no time.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
hone=${HONE:-$here/../bin/hone}
seconds=0 rows='*' target= peers=library
while [ $# -gt 1 ]; do
	case $1 in
	--seconds) seconds=$2 ;;
	--rows) rows=$2 ;;
	--target) target=$2 ;;
	--peers) peers=$2 ;;
	*) break ;;
	esac
	shift 2
done
[ $# = 1 ] || {
	echo "usage: contest.sh [--seconds S] [--rows PATTERN] [--target LINE] [--peers none|all] OUT.jsonl" >&2
	exit 2
}
out=$1
work=$(mktemp -d "${TMPDIR:-/tmp}/hone-contest-XXXXXX")
trap 'rm -rf "$work"' EXIT
export HONE_HOME="$work/home"

# The first CUDA device, with its multiprocessors and its shared memory.
[ -n "$target" ] || target=$("$hone" board list --json | tr '{' '\n' | sed -n \
	's/^"kind":"cuda".*"target":"\([^"]*\)","cores":\([0-9]*\),.*"shared_bytes":\([0-9]*\).*/\1 -num_cores=\2 -max_shared_memory_per_block=\3/p' |
	head -n 1)
[ -n "$target" ] || {
	echo "contest: no CUDA device here; --target names another" >&2
	exit 1
}

# tune ROW WHO OPTION..: a row of hone's.  A device of sm_90 has instructions for products that only
# code for sm_90a may have.
tune()
{
	row=$1 who=$2
	shift 2
	begun=$(date +%s%N)
	line=$target
	case $row in
	product-bf16-*) line=$(printf '%s' "$target" | sed 's/-isa=sm_90 /-isa=sm_90a /') ;;
	esac
	"$hone" tune --json --quiet --target "$line" "$@" "$here/rows/$row.txt" \
		>"$work/answer" 2>"$work/error" || :
	ms=$((($(date +%s%N) - begun) / 1000000))
	ns=$(sed -n 's/.*"median_ns":\([0-9][0-9.e+-]*\).*/\1/p' "$work/answer" | head -n 1)
	# how factors come into shared memory, of what the time is of
	way=threads
	! grep -q '"PL", *[0-9]*, *[0-9]*, *[0-9]*, *4 *\]' "$work/answer" || way=tma
	if [ "$who" = tma ] && [ "$way" != tma ] && [ -n "$ns" ]; then
		ns='' && echo 'no kernel with bulk copies was the best' >"$work/error"
	fi
	if [ -n "$ns" ]; then
		printf '{"row":"%s","who":"%s","ns":%s,"ms":%s,"way":"%s"}\n' "$row" "$who" "$ns" \
			"$ms" "$way"
	else
		why=$(tail -n 1 "$work/error" | tr -d '"\\' | tr -c '[:print:]\n' '?')
		printf '{"row":"%s","who":"%s","ns":null,"ms":%s,"why":"%s"}\n' "$row" "$who" \
			"$ms" "$why"
	fi | tee -a "$out"
}

: >"$out"
# shellcheck disable=SC2254 # a pattern on purpose
for file in "$here"/rows/*.txt; do
	row=$(basename "$file" .txt)
	case $row in
	$rows) ;;
	*) continue ;;
	esac
	tune "$row" rules --policy heuristic --trials 16 --seconds 20
	case $row in
	product-bf16-*) # the first four are by bulk copies
		tune "$row" tma --policy unconfirmed --trials 4 --seconds 20
		tune "$row" wgmma --policy unconfirmed --trials 8 --seconds 20
		;;
	esac
	[ "$seconds" = 0 ] || tune "$row" tuned --seconds "$seconds"
done
compile=
[ "$peers" != all ] || compile=--compile
if [ "$peers" != none ] && command -v python3 >/dev/null; then
	python3 "$here/peers.py" --rows "$rows" $compile >>"$out" || echo "contest: no peers here" >&2
fi
sh "$here/table.sh" "$out"
