# find.sh -- what is stored is found again: by the beginning of a key or an id, on a machine that is
# near, in a list; and a miss is a short line that says what there is.
. "$(dirname "$0")/lib.sh"

tall='tall(float32 A[96,16], float32 B[16,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
start_honed --board fake
hone tune --text "$small" --target fake --trials 8 -q --json >"$work/a" || die tune
hone tune --text "$tall" --target fake --trials 8 -q >"$work/b" || die tune
job=$(field job <"$work/a")
key=$(hone dag --text "$small" --json | field key)

# Near: the same instruction set with other cores or caches, said to be so; another is a miss.
fake=$(hone query --text "$small" --target fake --json | field target)
other=$(echo "$fake" | sed 's/num_cores=[0-9]*/num_cores=7/; s/l2_bytes=[0-9]*/l2_bytes=4096/')
hone query --text "$small" --target "$other" >"$work/near" || die "near: $(cat "$work/near")"
grep -q '^  near .*num_cores [0-9]*, here 7; l2_bytes [0-9]*, here 4096$' "$work/near" ||
	die "near: $(cat "$work/near")"
hone query --text "$small" --target "$other" --json >"$work/near" || die "near --json"
grep -q '"near":\[{"parameter":"num_cores","there":[0-9]*,"here":7},{"parameter":"l2_bytes"' "$work/near" ||
	die "near --json: $(cat "$work/near")"
hone query --text "$small" --target fake --json | grep -q '"near":null' || die "an exact answer is near"
hone explain --text "$small" --target "$other" | grep -q 'near .*num_cores' || die "explain: not near"
refused 'not tuned yet; `hone ls` lists what is$' hone query --text "$middle" --target fake
refused 'tuned for fake, not for sm_70; name one with --target$' hone query --text "$small" --target cuda
awk 'length($0) > 160 { exit 1 }' "$work/err" || die "a long line: $(cat "$work/err")"

# The list.
hone ls >"$work/ls" || die ls
[ "$(wc -l <"$work/ls")" -eq 3 ] || die "ls: $(cat "$work/ls")"
grep -q "^mm .*$(echo "$key" | cut -c1-12) .* 8 .* s  fake" "$work/ls" || die "ls: $(cat "$work/ls")"
hone ls --json | grep -q "\"key\":\"$key\",\"name\":\"mm\"" || die "ls --json"
refused 'nothing was tuned here yet' hone ls --home "$work/none"

# Of one target, as `hone query` has answers of it; a near one counts.
ageless()
{
	sed 's/ *[0-9]* [a-z]*  fake/ fake/'
}
ageless <"$work/ls" >"$work/all"
hone ls --target "$other" | ageless | diff "$work/all" - || die "ls --target: $(hone ls --target "$other")"
[ "$(hone ls --target npu)" = 'nothing is stored for this target yet' ] || die "ls: $(hone ls --target npu)"
[ "$(hone ls --target npu --json)" = '{"workloads":[]}' ] || die "ls: $(hone ls --target npu --json)"
refused 'no isa of a npu' hone ls --target 'npu -isa=dv911'

# A name is whole in a file, and as long as there is room on a terminal: the table is as wide as that.
long=a_name_that_is_longer_than_what_a_terminal_of_eighty_columns_has_room_for
hone tune --text "$small" --cold --name $long --target fake -n 1 -q >/dev/null || die "tune $long"
long_listed()
{
	hone ls | grep -q "^$long "
}
within 10 long_listed || die "cut: $(hone ls)"
if command -v script >/dev/null && script --version 2>/dev/null | grep -q util-linux; then
	for width in 90 120; do
		script -qec "stty cols $width; '$HONE_BIN/hone' ls" /dev/null </dev/null | tr -d '\r' >"$work/ls"
		grep -q '^a_name.*\.\. ' "$work/ls" || die "not cut: $(cat "$work/ls")"
		[ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' "$work/ls")" = $width ] ||
			die "not $width wide: $(cat "$work/ls")"
	done
fi

# Beginnings: four letters are enough, two candidates are too many, both in store and daemon.
begin=$(echo "$key" | cut -c1-4)
hone query --key "$begin" --target fake | grep -q "^mm " || die "query --key $begin"
hone explain --key "$begin" --target fake | grep -q "^mm:" || die "explain --key $begin"
hone why-failed --key "$begin" --target fake | grep -q "^mm  (workload $begin.* nothing failed" ||
	die "why-failed --key: $(hone why-failed --key "$begin" --target fake)"
refused 'at least 4 digits' hone query --key "$(echo "$key" | cut -c1-3)" --target fake
refused 'none begins with' hone query --key "${begin}ffffffffff" --target fake
refused 'no key begins with' hone why-failed --key "${begin}ffffffffff" --target fake
hone why-failed "$(echo "$job" | cut -c1-6)" | grep -q "workload $begin" || die "why-failed JOB"
hone cancel "$(echo "$job" | cut -c1-6)" | grep -q 'had ended already' || die "cancel"
refused 'none called' hone cancel jffffffff
refused 'none called' hone cancel "$(echo "$job" | cut -c1-3)"

# Enough workloads that two keys begin alike: sizes are tried until it is so.
i=1
while [ $i -lt 900 ]; do
	echo "$i $(hone dag --text "f(float32 A[$i]) -> B { B(i) = A(i) + 1 }" --json | field key)"
	i=$((i + 1))
done >"$work/keys"
twins=$(sort -k2 "$work/keys" | awk '{ k = substr($2, 1, 4); if (k == last) { print size, $1, k; exit } last = k; size = $1 }')
[ -n "$twins" ] || die "no two of 900 keys begin alike"
set -- $twins
for size in $1 $2; do
	hone tune --text "f(float32 A[$size]) -> B { B(i) = A(i) + 1 }" --name "of$size" --target fake -n 2 -q \
		>/dev/null || die "tune $size"
done
within 5 sh -c "\"$HONE_BIN/hone\" ls | grep -q of$2" || die "not in the list: $(hone ls)"
refused "key: $3 is ambiguous: $3.* (of[0-9]*), $3.* (of[0-9]*)$" hone query --key "$3" --target fake
refused "workload: $3 is ambiguous: $3.* (of[0-9]*), $3.* (of[0-9]*)$" hone why-failed --key "$3"

# What has ended, also before this daemon.
hone jobs --all | grep -q "^$job  *done .* ${key%${key#????????????}}" || hone jobs --all | grep -q "job $job: done" ||
	die "jobs --all: $(hone jobs --all)"
hone stop || die stop
start_honed --board fake
hone jobs | grep -q 'no jobs (--all lists' || die "jobs: $(hone jobs)"
hone jobs --all | grep "^$job  *done" | grep -q "mm .* in 8 trials" || die "jobs --all: $(hone jobs --all)"
[ "$(hone jobs --all | wc -l)" -eq 5 ] || die "jobs --all: $(hone jobs --all)"
hone jobs --all --json | grep -q "\"job\":\"$job\",\"name\":\"mm\"" || die "jobs --all --json"
hone why-failed "$(echo "$job" | cut -c1-6)" | grep -q "workload $begin" || die "why-failed of one that ended"
echo ok
