#!/bin/sh
# tests/golden/run.sh [--bless] FILE.t ... -- golden text tests.
#
# A .t file is a transcript: a line that begins with "$ " is a command, the lines after it, up to
# the next command, are what it prints (standard output and error together), and a last line
# "[N]" is its exit status when that is not 0.  Lines that begin with "# " are comments.
# Commands run in an empty folder with hone's programs on PATH and $HONE_SOURCE set, and with a
# store of their own that says odd things of this machine: no answer may depend on the host.
# --bless rewrites the file with what the commands print now: review the diff.
set -u

bless=0
if [ "${1-}" = "--bless" ]; then
	bless=1
	shift
fi
PATH="${HONE_BIN:?the folder of hone\'s programs}:$PATH"
export PATH HONE_SOURCE
status=0

for file in "$@"; do
	case $file in /*) ;; *) file=$PWD/$file ;; esac
	work=$(mktemp -d) || exit 1
	trap 'rm -rf "$work"' EXIT
	trap 'exit 1' INT TERM
	mkdir "$work/dir" "$work/home"
	echo 'native -num_cores=3 -cache_line_bytes=128 -fma_per_cycle=3 -fma_latency=7' \
		'-l1_bytes=12288 -l2_bytes=98304 -l3_bytes=777216' > "$work/home/machine.target"
	: > "$work/got"
	commands=0
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in
		'$ '*)
			commands=$((commands + 1))
			printf '%s\n' "$line" >> "$work/got"
			(cd "$work/dir" && HONE_HOME="$work/home" sh -c "${line#'$ '}") >> "$work/got" 2>&1 < /dev/null
			rc=$?
			[ "$rc" -eq 0 ] || printf '[%d]\n' "$rc" >> "$work/got"
			;;
		'# '*)
			printf '%s\n' "$line" >> "$work/got"
			;;
		esac
	done < "$file"
	if [ "$bless" -eq 1 ]; then
		cp "$work/got" "$file"
	elif [ "$commands" -eq 0 ]; then
		echo "$file: no command in it"
		status=1
	elif ! diff -u "$file" "$work/got"; then
		status=1
	fi
	rm -rf "$work"
done
exit "$status"
