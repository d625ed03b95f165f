# near.sh -- a second size of one operator begins from the best of the first; another operator
# does not, nor does a store that knows nothing.
. "$(dirname "$0")/lib.sh"
command -v sqlite3 >/dev/null || exit 77

# $1: programs of origin "near" among the records of the job that $2 names
near()
{
	sqlite3 "$HONE_HOME/hone.sqlite" "SELECT count(*) FROM record JOIN workload
		ON workload.id = workload_id WHERE origin = 'near' AND name = '$1'" || die sqlite3
}

# $1: name, $2: program, $3: policy
tune()
{
	hone tune --text "$2" --name "$1" --policy "$3" --trials 16 --quiet >"$work/out" ||
		die "tune $1: $(cat "$work/out")"
	within 10 gone || die "the private daemon or its workers stayed"
}

# Drawn at random, so that the best is none of the heuristics, which the second size has anyway.
tune first "mm(float32 A[128,128], B[128,128]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" random
[ "$(near first)" = 0 ] || die "near, in an empty store"
tune other "mm(float32 A[96,48], B[80,48]) -> C { C(i,j) +=! A(i,k) * B(j,k) }" evolve
[ "$(near other)" = 0 ] || die "near, from another operator"
tune second "mm(float32 A[96,80], B[80,112]) -> C { C(i,j) +=! A(i,k) * B(k,j) }" evolve
[ "$(near second)" -gt 0 ] || die "nothing came from the near size"
