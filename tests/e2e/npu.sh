# npu.sh -- tuning on the simulated NPU: from an empty store rows and a product get a right program on
# each machine; the same program has the same time, to the cycle; the best is written as text that
# `hone npu` runs as fast; planted faults are classified, and tuning goes on; what has no form is said.
. "$(dirname "$0")/lib.sh"

soft='softmax(float32 X[64,256]) -> S {
	M(i) max=! X(i,j)
	E(i,j) = exp(X(i,j) - M(i))
	Z(i) +=! E(i,j)
	S(i,j) = E(i,j) / Z(i)
}'
prod='prod(float16 A[64,64], float16 B[64,64]) -> C { C(i,j) +=! float32(A(i,k)) * float32(B(k,j)) }'

hone board list >"$work/list" || die "board list"
grep -q '^npu 0  simulated: .*like Ascend 910A' "$work/list" || die "not listed: $(cat "$work/list")"
grep -q '^  target  npu -isa=tiny$' "$work/list" || die "no tiny: $(cat "$work/list")"

# "cycles" of `hone npu --json`
cycles()
{
	sed -n 's/.*"cycles": *\([0-9]*\).*/\1/p' | head -1
}

for isa in tiny dv910; do
	line="npu -isa=$isa"
	for program in "$soft" "$prod"; do
		name=${program%%(*}
		hone tune --target "$line" --text "$program" --trials 8 --json -q >"$work/tuned" 2>"$work/err" ||
			die "tune: $(cat "$work/tuned" "$work/err")"
		[ "$(field state <"$work/tuned")" = done ] || die "not done: $(cat "$work/tuned")"
		[ "$(field ok <"$work/tuned")" -ge 1 ] || die "none is right: $(cat "$work/tuned")"
		grep -q '"failures":{}' "$work/tuned" || die "some are wrong: $(cat "$work/tuned")"
		hone query --target "$line" --text "$program" --json >"$work/best" || die query
		grep -q '"board":"[^"]*simulated: [0-9]* cycles, counted once"' "$work/best" ||
			die "not said that it is simulated: $(cat "$work/best")"

		hone replay --target "$line" --text "$program" --as picture -o "$work/$isa" >"$work/out" \
			2>"$work/err" || die "replay: $(cat "$work/err")"
		grep -q '^<svg' "$work/$isa/$name.svg" || die "no picture"
		grep -q '"format":"hone-npu-kernel/1"' "$work/$isa/$name.json" || die "no manifest"
		hone npu "$work/$isa/$name.hnpu" --profile "$isa" --json >"$work/counted" || die "npu"
		best=$(field median_ns <"$work/best")
		[ "$(cycles <"$work/counted")" = "$best" ] || die "another time, $best: $(cat "$work/counted")"
		[ "$(cycles <"$work/$isa/$name.json")" = "$best" ] || die "the manifest's: $best"
		# what is exported names the machine, and is taken back
		hone records export --target "$line" --text "$program" >"$work/log" 2>"$work/err" || die export
		grep -q "\"$line\"" "$work/log" || die "exported for: $(cut -c1-200 "$work/log")"
		hone replay --target "$line" --text "$program" --records "$work/log" -o "$work/$isa-log" \
			>"$work/out" 2>"$work/err" || die "records: $(cat "$work/err")"
		[ "$(cycles <"$work/$isa-log/$name.json")" = "$best" ] || die "the log's: $best"
	done
done
within 10 gone || die "processes stayed"

# A machine is not another one's name, whichever was asked for first.
export HONE_TEST_HOOKS=1 HONE_CUDA_DRIVER=/nonexistent
start_honed
unset HONE_TEST_HOOKS HONE_CUDA_DRIVER
for line in 'npu -isa=tiny' npu 'npu -num_cores=3'; do
	hone tune --target "$line" --text 'f(float32 A[4096]) -> B { B(i) = exp(A(i)) }' --trials 2 -q >"$work/out" \
		2>"$work/err" || die "$line: $(cat "$work/err")"
	hone query --target "$line" --text 'f(float32 A[4096]) -> B { B(i) = exp(A(i)) }' >"$work/out" 2>&1 ||
		die "$line: $(cat "$work/out")"
done
hone boards >"$work/out"
for name in 'npu -isa=tiny' npu 'npu -isa=dv910 -num_cores=3 .*'; do
	grep -q "^name    $name, 0 jobs$" "$work/out" || die "no name $name: $(cat "$work/out")"
done

# So many are served, and no more: that is told.
n=0
while [ $n -lt 13 ]; do
	n=$((n + 1))
	refused 'nonexistent' hone tune --target "cuda -isa=sm_80 -num_cores=$n" --text "$prod" --trials 1 -q
done
refused '"npu -isa=dv910 -num_cores=4 .*": 17 targets are served, and no more are till honed starts anew' \
	hone tune --target 'npu -num_cores=4' --text "$prod" --trials 1 -q
kill "$honed_pid"
wait "$honed_pid"

# The same again, from nothing, is the same time.
first=$(hone query --target 'npu -isa=tiny' --text "$soft" --json | field median_ns)
naive=$(hone query --target 'npu -isa=tiny' --text "$soft" --json | field naive_ns)
[ "$naive" -gt "$first" ] || die "the naive program takes $naive, the best $first"
HONE_HOME="$work/other" hone tune --target 'npu -isa=tiny' --text "$soft" --trials 8 --json -q \
	>"$work/tuned" 2>"$work/err" || die "again: $(cat "$work/err")"
[ "$(field median_ns <"$work/tuned")" = "$first" ] || die "not $first: $(cat "$work/tuned")"
[ "$(field naive_ns <"$work/tuned")" = "$naive" ] || die "not $naive: $(cat "$work/tuned")"

# What has no naive program there has no naive time, and no ratio: this computer's clock is another one.
bytes='bytes(int8 A[64,64], int8 B[64,64]) -> C { C(i,j) +=! int32(A(k,i)) * int32(B(k,j)) }'
echo "$bytes" >"$work/bytes.txt"
echo "$soft" >"$work/soft.txt"
hone tune --target 'npu -isa=tiny' --text "$bytes" --trials 2 -q >"$work/out" 2>"$work/err" || die "bytes"
grep -q '^  naive     none: as written' "$work/out" && ! grep -q faster "$work/out" ||
	die "a naive time: $(cat "$work/out")"
hone query --target 'npu -isa=tiny' --text "$bytes" --json >"$work/out" || die query
grep -q '"naive_ns":null,"speedup":null' "$work/out" || die "query: $(cat "$work/out")"
hone tune --target 'npu -isa=tiny' "$work/soft.txt" "$work/bytes.txt" --trials 4 -q >"$work/out" 2>"$work/err" ||
	die "a set: $(cat "$work/err")"
grep -Eq '^ .* [0-9.]+ us .* [0-9.]+x .* softmax' "$work/out" || die "no ratio: $(cat "$work/out")"
grep -Eq '^ .* - .* [0-9.]+ us +- .* bytes' "$work/out" || die "a ratio of bytes: $(cat "$work/out")"
grep -q '^  naive -: as written it has no program' "$work/out" || die "not said: $(cat "$work/out")"
grep -Eq '^ +sum +[0-9]+ +- +[0-9.]+ us +-$' "$work/out" || die "a sum of two clocks: $(cat "$work/out")"

# Each task of a fused operator of AKG.
cp "$HONE_SOURCE/tests/data/fuzz/akg/softmax" "$work/softmax.info"
hone tune "$work/softmax.info" --target 'npu -isa=tiny' --trials 4 -q >"$work/out" 2>"$work/err" ||
	die "akg: $(cat "$work/err" "$work/out")"
grep -q 'softmax.k0' "$work/out" || die "no task: $(cat "$work/out")"
grep -q libraries "$work/err" && die "a final of networks: $(cat "$work/err")"
hone compile "$work/softmax.info" --target 'npu -isa=tiny' -o "$work/none" >"$work/out" 2>"$work/err" &&
	die "a library: $(cat "$work/out")"
grep -q 'libraries of networks are for processors' "$work/err" || die "compile: $(cat "$work/err")"
hone check "$work/softmax.info" --target 'npu -isa=tiny' >"$work/out" 2>"$work/err" && die "a check"
grep -q 'this machine runs no kernel of it' "$work/err" || die "check: $(cat "$work/err")"

# Made for such a machine, it is no news that it is one; and where nothing has a form, the line says why.
sed 's/"cuda"/"aicore"/' "$work/softmax.info" >"$work/aicore.info"
hone npu "$work/softmax.info" >/dev/null 2>"$work/err" || die "npu: $(cat "$work/err")"
grep -q 'made for "cuda", which is a hint' "$work/err" || die "no hint: $(cat "$work/err")"
hone npu "$work/aicore.info" >/dev/null 2>"$work/err" || die "npu: $(cat "$work/err")"
grep -q hint "$work/err" && die "a hint: $(cat "$work/err")"
hone tune --target 'npu -isa=tiny' --text 'f(int64 A[64]) -> C { C(i) = A(i) + int64(1) }' --trials 2 -q \
	>/dev/null 2>"$work/err" && die "int64 has a program"
grep -q 'no candidate was correct within the budget; BUILD_FAIL, first: C: .*, not int64$' "$work/err" ||
	die "not why: $(cat "$work/err")"

# A kernel without a program is told, with the reason; the others of the network are tuned.
tensor() # NAME LENGTH TYPE
{
	printf '{"tensor_name":"%s","shape":[%s],"data_type":"%s","format":"DefaultFormat"}' "$1" "$2" "$3"
}
op() # NAME FROM TO LENGTH TYPE
{
	printf '{"name":"%s","attr":null,"input_desc":[[%s]],"output_desc":[%s]}' "$1" "$(tensor "$2" "$4" "$5")" \
		"$(tensor "$3" "$4" "$5")"
}
printf '{"composite":true,"op":"k","process":"aicore","platform":"AKG","input_desc":[[%s],[%s]],' \
	"$(tensor x 64 float32)" "$(tensor z 7 int64)" >"$work/two.info"
printf '"output_desc":[%s,%s],"op_desc":[%s,%s]}' "$(tensor y 64 float32)" "$(tensor w 7 int64)" \
	"$(op Exp x y 64 float32)" "$(op Neg z w 7 int64)" >>"$work/two.info"
hone tune "$work/two.info" --target 'npu -isa=tiny' --trials 4 -q >"$work/out" 2>"$work/err" || die "two: $(cat "$work/err")"
grep -q '^hone: 1 kernel has no time within the budget; BUILD_FAIL, first: .*, not int64$' "$work/err" ||
	die "not why: $(cat "$work/err")"

# What is said of it.
hone explain --target 'npu -isa=tiny' --text "$soft" --asm >"$work/out" || die explain
grep -q '^  MTE2  busy  *[1-9]' "$work/out" || die "no pipes: $(cat "$work/out")"
hone explain --target 'npu -isa=tiny' --text "$soft" --as picture >"$work/out" || die "explain --as"
grep -q '^<svg' "$work/out" || die "no picture: $(cat "$work/out")"
refused 'explain: --as table: there is picture, of targets of kind npu' \
	hone explain --target 'npu -isa=tiny' --text "$soft" --as table
refused 'kernels for target npu have no form so; they have picture$' \
	hone replay --target 'npu -isa=tiny' --text "$soft" --as so -o "$work/none"
refused 'kernels for target cpu have no form picture; they have c, ir, asm, so$' \
	hone replay --text "$soft" --auto --as picture -o "$work/none"

# What is not there.
refused "'-num_cores=3': tiny has 2" hone tune --target 'npu -isa=tiny -num_cores=3' --text "$soft" --trials 2
refused "'-isa=dv911': no isa of a npu" hone tune --target 'npu -isa=dv911' --text "$soft" --trials 2
hone tune --target 'npu -isa=tiny' --text "$soft" --cold --trials 2 >"$work/out" 2>&1 && die "cold caches"
grep -q 'boards of kind npu cannot empty their caches' "$work/out" || die "cold: $(cat "$work/out")"
printf 'not a program\n' >"$work/bad.hnpu"
refused 'bad.hnpu' hone npu "$work/bad.hnpu"

# Faults of kernels, by the builder: each is what it is, and tuning goes on.
export HONE_TEST_HOOKS=1 HONE_TEST_PLANT="wrong,oob,nobarrier,hang,div0"
hone tune --target 'npu -isa=tiny -num_cores=1' --text "$soft" --trials 10 --json -q >"$work/tuned" \
	2>"$work/err" ||
	die "tune: $(cat "$work/tuned" "$work/err")"
for class in HANG SEGV ILL NONDETERMINISTIC WRONG_RESULT; do
	grep -q "\"$class\":[1-9]" "$work/tuned" || die "no $class: $(cat "$work/tuned")"
done
[ "$(field ok <"$work/tuned")" -ge 1 ] || die "none went on: $(cat "$work/tuned")"
within 10 gone || die "processes stayed"
echo ok
