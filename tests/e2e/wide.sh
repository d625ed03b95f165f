# wide.sh -- what answers are compared with is near the true value: of 2^25 terms near one, which
# right kernels sum in parts, float32 loses a fourteenth when it takes them one by one.
# A bitwise task wants the program's own numbers.
. "$(dirname "$0")/lib.sh"

ones='f(float32 A[7]) -> S { S() +=! A(k % 7) * 0.001 + 1.0 where k in 0:33554432 }'

hone tune --text "$ones" --trials 4 --json -q >"$work/near" || die "tune: $(cat "$work/near")"
field inputs <"$work/near" | grep -q 'compared with wider sums$' ||
	die "inputs: $(cat "$work/near")"
hone query --text "$ones" >/dev/null || die "no kernel is right"

hone tune --text "$ones" --bitwise --trials 4 --json -q >"$work/own" || die "tune --bitwise"
hone tune --text "$ones" --forbid reassociation --trials 4 -q >/dev/null || die "tune --forbid"
hone query --text "$ones" --forbid reassociation >/dev/null || die "no kernel keeps the order"
! hone query --text "$ones" --forbid zeros >/dev/null 2>&1 || die "another task has the answer"
! field inputs <"$work/own" | grep -q wider || die "bitwise: $(cat "$work/own")"
hone query --text "$ones" --bitwise >/dev/null || die "no kernel is right to the bit"
