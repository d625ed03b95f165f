#!/bin/sh
# Plants faults one at a time in a copy of the commit that is checked out, and prints for each
# which check finds it and after how many seconds.
#
#   [ROWS=FILE] [CHECKS='units pairs'] [PAIRS=600] [HONE_TRUST=1] tests/mutation.sh DIR [NAME...]
#
# DIR is made when it is not there, and kept: built once (through ccache where there is one),
# each fault costs what depends on its file.  ROWS has the faults (tests/mutations.txt; there is
# tests/reproductions.txt, too), one a row: name @ file @ sed -E expression @ what it breaks.  A
# row `+ @ file @ expression` is a further edit of the fault above it.  CHECKS, the first that
# finds a fault ends it: `units`, the quick tests of its folder and of the other of loopstate/ and
# lower/; `pairs`, so many random pairs that are legal.  HONE_TRUST=1 leaves out the run without a
# fault.  It is no test: it says how good the tests are.  What runs said is in tests/mutations.md.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
[ $# -ge 1 ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed 1d; exit 64; }
dir=$1
shift
rows=$(realpath "${ROWS:-$top/tests/mutations.txt}")
if [ ! -d "$dir" ]; then
	launcher='' linker=''
	if command -v ccache >/dev/null; then launcher=ccache; fi
	if command -v ld.lld >/dev/null; then linker=-fuse-ld=lld; fi
	git -C "$top" worktree add -q --detach "$dir" HEAD
	(cd "$dir" && cmake --preset release -DHONE_WERROR=OFF -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" \
		-DCMAKE_C_FLAGS_RELWITHDEBINFO="-O1 -DNDEBUG" -DCMAKE_EXE_LINKER_FLAGS="$linker" \
		${launcher:+"-DCMAKE_C_COMPILER_LAUNCHER=$launcher"} >/dev/null)
fi
cd "$dir"
git checkout -q --detach "$(git -C "$top" rev-parse HEAD)"
build() { cmake --build build --target "$@" >"$dir/build/mutation.log" 2>&1 </dev/null; }
units_of() { (cd "tests/unit/$1" && ls ./*.c) | sed "s,^./,unit_$1_,; s/\.c$//"; }
# These print which check fails, or nothing; what cannot be built or run says nothing about the
# fault.
units() {
	for folder in "$@"; do
		build hone-board $(units_of "$folder") || { echo "NOT BUILT"; return 0; }
		ctest --test-dir build -j2 --stop-on-failure -R "^unit/${folder}_" \
			>build/mutation.out 2>&1 </dev/null && continue
		failed=$(sed -n 's/.*- \(unit\/[a-z_0-9]*\) (.*/\1/p' build/mutation.out | sort -u |
			tr '\n' ' ')
		echo "${failed:-NOT RUN: ctest failed without a name}"
		return 0
	done
}
pairs() {
	build full_all_random || { echo "NOT BUILT"; return 0; }
	(cd build && HONE_SHRINK=0 HONE_PAIRS=${PAIRS:-600} tests/full/full_all_random) \
		>build/mutation.out 2>&1 </dev/null && return 0
	seed=$(sed -n 's/^\([^;]*; again: HONE_SEED=[0-9]*\).*/\1/p' build/mutation.out | head -n 1)
	echo "${seed:+random pairs: }${seed:-NOT RUN: the pairs failed without a seed}"
}
checks() { # FOLDER...
	for check in ${CHECKS:-units pairs}; do
		case $check in
		units) found=$(units "$@") ;;
		pairs) found=$(pairs) ;;
		*) found="NOT RUN: there is no check '$check'" ;;
		esac
		[ -z "$found" ] || { echo "$found"; return 0; }
	done
}
if [ -z "${HONE_TRUST:-}" ]; then
	found=$(checks loopstate lower)
	[ -z "$found" ] || { echo "without a fault: $found"; exit 1; }
fi

edits_of() { awk -F ' *@ *' -v name="$1" '/^#/ { next } $1 != "+" { on = $1 == name } on' "$rows"; }
# Plants the edits on stdin; the files that one no longer fits.
plant() {
	while IFS=@ read -r _ file change _; do
		file=${file# } file=${file% } change=${change# } change=${change% }
		sed -E "$change" "$file" >build/planted
		cmp -s build/planted "$file" && echo "$file"
		cat build/planted >"$file"
	done
}
[ $# -gt 0 ] || set -- $(awk -F ' *@ *' '!/^[#+]/ { print $1 }' "$rows")
for name; do
	first=$(edits_of "$name" | head -n 1) file=${first#*@ } file=${file%% @*}
	unfit=$(edits_of "$name" | plant)
	case $file in
	'') echo "$name: NOT PLANTED: there is no such row" && continue ;;
	loopstate/nest/quick*) folders=loopstate ;;
	loopstate/*) folders="loopstate lower" ;;
	*) folders="lower loopstate" ;;
	esac
	if [ -n "$unfit" ]; then
		echo "$name: NOT PLANTED: a row no longer fits" $unfit
	else
		begin=$(date +%s)
		found=$(checks $folders)
		printf '%-16s %4s s  %s (%s)\n' "$name" "$(($(date +%s) - begin))" \
			"${found:-nothing}" "${first##*@ }"
	fi
	git checkout -q -- .
done | tee "$dir/build/mutation.txt"
# rows that say nothing of the tests, and those that nothing found, are for a person to look at
! grep -E ': NOT PLANTED| s  (NOT |nothing)' "$dir/build/mutation.txt" >&2
