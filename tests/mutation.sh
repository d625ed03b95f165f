#!/bin/sh
# Plants faults one at a time (tests/mutations.txt) in a copy of the commit that is checked out,
# and prints for each which check finds it and after how many seconds.
#
#   tests/mutation.sh DIR [NAME...]
#
# DIR is made when it is not there, and kept: built once (through ccache where there is one),
# each fault costs what depends on its file.  Checks, the first that finds it ends it: the quick
# tests of the fault's folder, those of the other of loopstate/ and lower/, the random pairs
# (legal ones: PAIRS, 600).  It is no test: it says how good the tests are.  What a run of all
# rows said stands in tests/mutations.md.  HONE_TRUST=1 leaves out the run without a fault.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed 1d; exit 64; }
dir=$1
shift
if [ ! -d "$dir" ]; then
	launcher=$(command -v ccache || true)
	linker=$(command -v ld.lld >/dev/null && echo -fuse-ld=lld || true)
	git -C "$top" worktree add -q --detach "$dir" HEAD
	(cd "$dir" && cmake --preset release -DHONE_WERROR=OFF -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" \
		-DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -DNDEBUG" -DCMAKE_EXE_LINKER_FLAGS="$linker" \
		${launcher:+"-DCMAKE_C_COMPILER_LAUNCHER=$launcher"} >/dev/null)
fi
cd "$dir"
git checkout -q --detach "$(git -C "$top" rev-parse HEAD)"
build() { cmake --build build --target "$@" >"$dir/build/mutation.log" 2>&1 </dev/null; }
units_of() { (cd tests/unit && ls "$1"_*.c) | sed 's/\.c$//; s/^/unit_/'; }
units() { # a failure names the first that fails
	build hone-board $(units_of "$1") || { echo "no build"; return 1; }
	ctest --test-dir build -j2 --stop-on-failure -R "^unit/$1_" >build/mutation.out 2>&1 \
		</dev/null && return 0
	sed -n 's/.*- \(unit\/[a-z_0-9]*\) (.*/\1/p' build/mutation.out | sort -u | tr '\n' ' '
	return 1
}
pairs() {
	build full_all_random || { echo "no build"; return 1; }
	(cd build && HONE_SHRINK=0 HONE_PAIRS=${PAIRS:-600} tests/full/full_all_random) \
		>build/mutation.out 2>&1 </dev/null && return 0
	echo "random pairs: $(grep -m1 -o '^[^;]*; again: HONE_SEED=[0-9]*' build/mutation.out || echo '?')"
	return 1
}
[ -n "${HONE_TRUST:-}" ] || (units loopstate && units lower && pairs) || { echo "fails without a fault"; exit 1; }

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
	case $file in
	loopstate/quick*) folders=loopstate ;;
	loopstate/*) folders="loopstate lower" ;;
	*) folders="lower loopstate" ;;
	esac
	begin=$(date +%s)
	found=
	for folder in $folders; do
		found=$(units "$folder") || break
	done
	[ -n "$found" ] || found=$(pairs) || true
	printf '%-16s %4s s  %s (%s)\n' "$name" "$(($(date +%s) - begin))" "${found:-nothing}" \
		"${what# }"
	git checkout -q -- "$file"
done
