#!/bin/sh
# Plants faults one at a time (tests/mutations.txt) in a copy of the commit that is checked out,
# and prints for each which check finds it and after how many seconds.
#
#   tests/mutation.sh DIR [NAME...]
#
# DIR is made when it is not there, and kept: built once, each fault costs what depends on its
# file.  Checks, the first that finds it ends it: the random pairs (legal ones: PAIRS, 600),
# then the quick tests of loopstate/ and lower/.  It is no test: it says how good the tests are.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed 1d; exit 64; }
dir=$1
shift
if [ ! -d "$dir" ]; then
	git -C "$top" worktree add -q --detach "$dir" HEAD
	(cd "$dir" && cmake --preset release -DHONE_WERROR=OFF >/dev/null)
fi
cd "$dir"
git checkout -q --detach "$(git -C "$top" rev-parse HEAD)"
build() { cmake --build build --target "$@" >"$dir/build/mutation.log" 2>&1 </dev/null; }
pairs() {
	(cd build && HONE_SHRINK=0 HONE_PAIRS=${PAIRS:-600} tests/full/full_all_random) \
		>build/mutation.out 2>&1 </dev/null
}
units=$(cd tests/unit && ls loopstate_*.c lower_*.c | sed 's/\.c$//; s/^/unit_/')
build full_all_random || { echo "no build"; exit 1; }

grep -v '^#' "$top/tests/mutations.txt" | while IFS=@ read -r name file change what; do
	name=${name% } file=${file# } change=${change# }
	file=${file% } change=${change% }
	if [ $# -gt 0 ]; then
		case " $* " in *" $name "*) ;; *) continue ;; esac
	fi
	sed -E -i "$change" "$file"
	if git diff --quiet -- "$file"; then
		echo "$name: the row no longer fits $file"
		continue
	fi
	if ! build full_all_random; then
		found="no build"
		took=-
	else
		begin=$(date +%s)
		if ! pairs; then
			found="random pairs: $(grep -m1 -o '^[^;]*; again: HONE_SEED=[0-9]*' build/mutation.out || echo '?')"
		elif build $units && ! ctest --test-dir build -j2 -R '^unit/(loopstate|lower)_' \
			>build/mutation.out 2>&1 </dev/null; then
			found=$(sed -n 's/.*- \(unit\/[a-z_]*\) (.*/\1/p' build/mutation.out | tr '\n' ' ')
		else
			found="nothing"
		fi
		took=$(($(date +%s) - begin))
	fi
	printf '%-16s %4s s  %s (%s)\n' "$name" "$took" "$found" "${what# }"
	git checkout -q -- "$file"
done
