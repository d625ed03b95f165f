#!/bin/sh
# table.sh -- the rows of contest.sh as a table: microseconds by who, and the library's time over
# hone's best (more than 1: hone is faster).  Where hone has no answer, why.
set -eu

awk '
function field(name,   at, rest) {
	at = index($0, "\"" name "\":")
	if (!at) return ""
	rest = substr($0, at + length(name) + 3)
	sub(/^ */, "", rest)
	if (substr(rest, 1, 1) == "\"") {
		rest = substr(rest, 2)
		return substr(rest, 1, index(rest, "\"") - 1)
	}
	match(rest, /^[^,}]*/)
	return substr(rest, 1, RLENGTH)
}
{
	row = field("row"); who = field("who"); ns = field("ns")
	if (!(row in seen)) { seen[row] = 1; order[++n] = row }
	if (ns == "null" || ns == "") { if (who == "rules") why[row] = field("why"); next }
	time[row, who] = ns
	if (who == "rules" || who == "tma" || who == "wgmma" || who == "tuned")
		if (!(row in best) || ns < best[row]) best[row] = ns + 0
}
function us(row, who) {
	if ((row, who) in time) return sprintf("%.1f", time[row, who] / 1000)
	return "-"
}
END {
	printf "%-28s %10s %10s %10s %10s %10s %10s %10s %7s\n", "microseconds", "rules", "tma", "wgmma", "tuned",
		"library", "inductor", "triton", "ratio"
	for (i = 1; i <= n; i++) {
		row = order[i]
		ratio = "-"
		if ((row in best) && ((row, "library") in time))
			ratio = sprintf("%.2f", time[row, "library"] / best[row])
		printf "%-28s %10s %10s %10s %10s %10s %10s %10s %7s %s\n", row, us(row, "rules"),
			us(row, "tma"), us(row, "wgmma"), us(row, "tuned"), us(row, "library"), us(row, "inductor"),
			us(row, "triton"), ratio, why[row]
	}
}' "$1"
