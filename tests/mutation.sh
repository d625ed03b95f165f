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
units_of() { (cd tests/unit && ls "$1"_*.c) | sed 's/\.c$//; s/^/unit_/'; }
# Both print which check fails, or nothing; what cannot be built or run says nothing about the fault.
units() {
	build hone-board $(units_of "$1") || { echo "NOT BUILT"; return 0; }
	ctest --test-dir build -j2 --stop-on-failure -R "^unit/$1_" >build/mutation.out 2>&1 \
		</dev/null && return 0
	failed=$(sed -n 's/.*- \(unit\/[a-z_0-9]*\) (.*/\1/p' build/mutation.out | sort -u | tr '\n' ' ')
	echo "${failed:-NOT RUN: ctest failed without a name}"
}
pairs() {
	build full_all_random || { echo "NOT BUILT"; return 0; }
	(cd build && HONE_SHRINK=0 HONE_PAIRS=${PAIRS:-600} tests/full/full_all_random) \
		>build/mutation.out 2>&1 </dev/null && return 0
	seed=$(sed -n 's/^\([^;]*; again: HONE_SEED=[0-9]*\).*/\1/p' build/mutation.out | head -n 1)
	echo "${seed:+random pairs: }${seed:-NOT RUN: the pairs failed without a seed}"
}
if [ -z "${HONE_TRUST:-}" ]; then
	found="$(units loopstate)$(units lower)$(pairs)"
	[ -z "$found" ] || { echo "without a fault: $found"; exit 1; }
fi

grep -v '^#' "$top/tests/mutations.txt" | while IFS=@ read -r name file change what; do
	name=${name% } file=${file# } change=${change# }
	file=${file% } change=${change% }
	if [ $# -gt 0 ]; then
		case " $* " in *" $name "*) ;; *) continue ;; esac
	fi
	sed -E -i "$change" "$file"
	if git diff --quiet -- "$file"; then
		echo "$name: NOT PLANTED: the row no longer fits $file"
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
		found=$(units "$folder")
		[ -z "$found" ] || break
	done
	[ -n "$found" ] || found=$(pairs)
	printf '%-16s %4s s  %s (%s)\n' "$name" "$(($(date +%s) - begin))" "${found:-nothing}" \
		"${what# }"
	git checkout -q -- "$file"
done | tee "$dir/build/mutation.txt"
# rows that say nothing of the tests, and those that nothing found, are for a person to look at
! grep -E ': NOT PLANTED| s  (NOT |nothing)' "$dir/build/mutation.txt" >&2
