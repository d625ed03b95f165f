# akg.sh -- a fused operator of AKG: its kernels are right, compiled into a library, tuned, and known
# afterwards; a range of an open size is one library.
. "$(dirname "$0")/lib.sh"

cp "$HONE_SOURCE/tests/data/fuzz/akg/softmax" "$work/softmax.info"
cp "$HONE_SOURCE/tests/data/fuzz/akg/open" "$work/open.info"

for kernel in softmax places joins; do
	hone check "$HONE_SOURCE/tests/data/fuzz/akg/$kernel" >"$work/table" 2>"$work/said" ||
		die "$kernel: $(cat "$work/said" "$work/table")"
	grep -q "^[0-9]* steps of [0-9]* kernels: [0-9]* right, " "$work/table" || die "$(cat "$work/table")"
done
hone check "$work/open.info" --dim batch=3 >"$work/table" 2>&1 || die "$(cat "$work/table")"

hone compile "$work/open.info" --dim batch=1..8 -o "$work/range" >/dev/null 2>"$work/said" ||
	die "$(cat "$work/said")"
grep -q 'open_run' "$work/range/model.h" || die "$(cat "$work/range/model.h")"

hone tune "$work/softmax.info" --trials 6 --quiet >"$work/table" 2>"$work/said" || die "$(cat "$work/said")"
grep -q "softmax.k0" "$work/table" || die "$(cat "$work/table")"
hone compile "$work/softmax.info" -o "$work/made" >/dev/null 2>"$work/said" || die "$(cat "$work/said")"
grep -Eq "steps of [0-9]+ kernels, [1-9][0-9]* from records" "$work/said" || die "$(cat "$work/said")"

hone compile --regions "$work/softmax.info" -o "$work/parts" 2>"$work/said" && die "regions of a kernel"
grep -q -- "--regions takes parts of ONNX files alone" "$work/said" || die "$(cat "$work/said")"

# on the simulated NPU, kernel by kernel; --as is of one program
hone npu "$work/softmax.info" >"$work/table" 2>"$work/said" || die "$(cat "$work/said" "$work/table")"
grep -Eq "on dv910: [1-9][0-9]* of [0-9]+ kernels, [1-9][0-9]* cycles" "$work/table" || die "$(cat "$work/table")"
hone npu "$work/softmax.info" --as text 2>"$work/said" && die "the text of a network"
grep -q -- "--as text is of one program" "$work/said" || die "$(cat "$work/said")"
