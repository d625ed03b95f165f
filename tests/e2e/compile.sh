# compile.sh -- a model file as a C library: what `hone model` says of it, the library linked to a
# program whose answers are right, from automatic schedules and from records; the same bytes twice; an
# open dimension; what is not taken, all of it at once.
. "$(dirname "$0")/lib.sh"
: "${HONE_COMPILE_MAKE:?}"

if ! command -v cc >/dev/null; then
	echo "skip: needs cc"
	exit 77
fi

# right DIR BATCH: links and runs a program.
right()
{
	cc -std=gnu11 -O1 -Wall -Wextra -Werror -I"$1" -I"$HONE_SOURCE/tests/e2e" -o "$work/program" \
		"$HONE_SOURCE/tests/e2e/compile_run.c" "$1/model.o" "$1/hone_pool.o" -lm -lpthread \
		>"$work/cc" 2>&1 || die "cc: $(head -5 "$work/cc")"
	[ "$("$work/program" "$1/model.weights" "$2" 2>&1)" = right ] ||
		die "$1: $("$work/program" "$1/model.weights" "$2" 2>&1)"
}

"$HONE_COMPILE_MAKE" "$work/small.onnx" && "$HONE_COMPILE_MAKE" "$work/open.onnx" batch ||
	die "no models"

hone model "$work/small.onnx" >"$work/model" 2>&1 || die "model: $(cat "$work/model")"
for kernel in conv pool matmul softmax; do
	grep -q "k0[0-9]_$kernel" "$work/model" || die "no $kernel in: $(cat "$work/model")"
done

# No store yet: every kernel is scheduled automatically.
hone compile "$work/small.onnx" -o "$work/a" >"$work/files" 2>"$work/said" || die "$(cat "$work/said")"
grep -q "5 steps of 5 kernels, 0 from records, 5 scheduled automatically" "$work/said" ||
	die "said: $(cat "$work/said")"
while read -r file; do
	[ -f "$file" ] || die "said to be written: $file"
done <"$work/files"
right "$work/a" 1

hone compile "$work/small.onnx" -o "$work/b" >/dev/null 2>&1 || die "a second time"
diff -r "$work/a" "$work/b" || die "other bytes the second time"

# Tuned as a whole: kernels are tasks of one set, and their records are used.
hone tune "$work/small.onnx" --trials 40 --quiet >"$work/table" 2>"$work/said" || die "tune: $(cat "$work/said")"
grep -q "small.k00_conv" "$work/table" || die "table: $(cat "$work/table")"
hone compile "$work/small.onnx" -o "$work/a" >/dev/null 2>"$work/said" || die "$(cat "$work/said")"
grep -Eq "([1-9]) steps of \1 kernels, [1-9] from records" "$work/said" || die "said: $(cat "$work/said")"
right "$work/a" 1
hone model "$work/small.onnx" >"$work/model" 2>&1 || die "model: $(cat "$work/model")"
grep -q "[1-9] of the kernels are tuned" "$work/model" || die "model: $(cat "$work/model")"

# The network as a whole: what was decided at the end of tuning is kept, and compile goes by it.
decided="$(ls "$HONE_HOME"/networks/*.json)" && cp "$decided" "$work/decided" || die "nothing was decided: $(cat "$work/said")"
hone final "$work/small.onnx" >"$work/table" 2>"$work/said" || die "final: $(cat "$work/said")"
grep -q "^kernel  *record  *automatic  taken$" "$work/table" || die "final: $(cat "$work/table")"
grep -Eq "a run on [0-9]* threads* takes .* with [0-9] of [1-9] records; .* with all, .* with none" "$work/said" ||
	die "final: $(cat "$work/said")"
# taken WORD: compile with that for every kernel, whatever was measured; how many are from records.
taken()
{
	sed -i "s/\"taken\":\"[a-z]*\"/\"taken\":\"$1\"/g" "$decided"
	hone compile "$work/small.onnx" -o "$work/$1" >/dev/null 2>"$work/said" || die "$(cat "$work/said")"
	right "$work/$1" 1
	records=$(sed -n 's/.*kernels, \([0-9]\) from records.*/\1/p' "$work/said")
}
compared=$(grep -o '"taken":"' "$decided" | wc -l)
taken record
all=$records
taken automatic
[ "$records" = $((all - compared)) ] || die "$records of $all from records, $compared are declined"
hone check "$work/small.onnx" >/dev/null 2>"$work/said" || die "check: $(cat "$work/said")"
hone compile "$work/small.onnx" -o "$work/again" >/dev/null 2>&1 || die "a second time"
diff -r "$work/automatic" "$work/again" || die "other bytes the second time"
echo '{' >"$decided"
hone compile "$work/small.onnx" -o "$work/again" >/dev/null 2>"$work/said" || die "$(cat "$work/said")"
grep -q "warning: $decided is damaged" "$work/said" || die "said: $(cat "$work/said")"
grep -q "5 steps of 5 kernels" "$work/said" || die "a damaged file is not nothing: $(cat "$work/said")"

# How it is fused is decided, too: a value that is cut off from its reader makes a step more.
# fused VALUES: how many steps there are then.
fused()
{
	sed "s/\"values\":\[[^]]*\]/\"values\":[$1]/" "$work/decided" >"$decided"
	hone compile --unchecked "$work/small.onnx" -o "$work/fused" >/dev/null 2>"$work/said" ||
		die "$(cat "$work/said")"
	steps=$(sed -n 's/.* \([0-9]*\) steps of .*/\1/p' "$work/said")
}
fused ""
rules=$steps value=0
while [ "$steps" -le "$rules" ]; do
	[ $value -lt 40 ] || die "no value can be cut off"
	fused "{\"value\":$value,\"say\":\"cut\"}"
	value=$((value + 1))
done
right "$work/fused" 1
fused '{"value":99999,"say":"cut"}'
grep -q "warning: $decided is damaged" "$work/said" || die "said: $(cat "$work/said")"
rm "$decided"

hone compile --auto "$work/small.onnx" -o "$work/a" >/dev/null 2>"$work/said" || die "$(cat "$work/said")"
grep -q ", 0 from records" "$work/said" || die "said: $(cat "$work/said")"

# A dimension that the model leaves open.
hone compile "$work/open.onnx" -o "$work/c" >/dev/null 2>"$work/said" && die "an open dimension"
grep -q -- "give their sizes: --dim batch=.." "$work/said" || die "said: $(cat "$work/said")"
hone compile "$work/open.onnx" --dim batch=3 --symbol small -o "$work/c" >/dev/null 2>"$work/said" ||
	die "$(cat "$work/said")"
right "$work/c" 3
hone compile "$work/open.onnx" --dim batch=0 -o "$work/c" >/dev/null 2>"$work/said" && die "a size of 0"
hone compile "$work/open.onnx" --dim height=1 --dim batch=1 -o "$work/c" >/dev/null 2>"$work/said" &&
	die "a dimension that is not there"
grep -q "no input has a dimension of that name" "$work/said" || die "said: $(cat "$work/said")"
for size in 2147483649 99999999999999999999 0x10 1.5 ..; do
	refused "--dim: \"batch=$size\": N is not a number from 1 to 2147483648" \
		hone compile "$work/open.onnx" --dim batch=$size -o "$work/c"
done
hone compile "$work/open.onnx" --dim x:2=2147483648 --dim x:3=2147483648 --dim batch=1 -o "$work/c" >/dev/null \
	2>"$work/said" && die "a huge input"
grep -q "input x has shape \[1,3,2147483648,2147483648\], more than 2^40 elements" "$work/said" || die "$(cat "$work/said")"
hone compile "$work/open.onnx" --dim batch=2147483648 -o "$work/c" >/dev/null 2>"$work/said" && die "a huge result"
grep -q "conv makes a tensor of shape \[2147483648,8,9,9\], more than 2^40 elements" "$work/said" ||
	die "$(cat "$work/said")"

# Products of bfloat16: half the bytes of weights, the same answers but for rounding.
hone compile --auto --dtype bfloat16 "$work/small.onnx" -o "$work/narrow" >/dev/null 2>"$work/said" ||
	die "$(cat "$work/said")"
grep -q '_cast' "$work/narrow/model.json" || die "nothing is rounded"
[ "$(wc -c <"$work/narrow/model.weights")" -lt "$(wc -c <"$work/a/model.weights")" ] ||
	die "weights are as large as before"
hone check --auto --dtype bfloat16 "$work/small.onnx" >"$work/table" 2>&1 || die "$(cat "$work/table")"
refused '--dtype: "bfloat" is none of: bfloat16' hone compile --dtype bfloat "$work/small.onnx" -o "$work/d"

# A quantized network computes in integers, said or not; as it is written it does not.  What is
# decided of it is decided for that form.
"$HONE_COMPILE_MAKE" "$work/q.onnx" quantized && "$HONE_COMPILE_MAKE" "$work/light.onnx" quantized weights ||
	die "no models"
for form in "" int8-qdq float32; do
	hone compile --auto ${form:+--dtype $form} "$work/q.onnx" -o "$work/q$form" >/dev/null 2>"$work/said" ||
		die "$(cat "$work/said")"
	hone check --auto ${form:+--dtype $form} "$work/q.onnx" >"$work/table" 2>&1 || die "$(cat "$work/table")"
done
diff -r "$work/q" "$work/qint8-qdq" || die "integers are not what it computes in by itself"
grep -q '_dequantize"' "$work/q/model.json" && die "weights are dequantized"
grep -q '_dequantize"' "$work/qfloat32/model.json" || die "as it is written nothing is dequantized"
for form in "" int8-qdq float32 bfloat16; do
	model=$work/q.onnx want=1
	case $form in
	float32) want=2 ;;
	bfloat16) model=$work/small.onnx want=3 ;;
	esac
	hone tune ${form:+--dtype $form} "$model" --trials 6 --quiet >/dev/null 2>"$work/said" || die "$(cat "$work/said")"
	[ "$(ls "$HONE_HOME"/networks | wc -l)" = $want ] || die "$form: files: $(ls "$HONE_HOME"/networks)"
done
for model in small light; do
	refused "$model.onnx: --dtype int8-qdq: no product of the model is of integers; quantize" \
		hone compile --dtype int8-qdq "$work/$model.onnx" -o "$work/d"
done
[ ! -e "$work/d" ] || die "files of a network that was refused"
refused "--dtype: give it with a network" hone tune --dtype bfloat16 --text "$small" --trials 0

# What hone does not take, and files that are none.
sed 's/Relu/Rely/; s/Softmax/Sofdmax/' "$work/small.onnx" >"$work/bad.onnx"
hone compile "$work/bad.onnx" -o "$work/d" >/dev/null 2>"$work/said" && die "unknown operators"
grep -q "^hone: Rely, 1 time: not an operator that hone has; node r" "$work/said" || die "$(cat "$work/said")"
[ ! -e "$work/d" ] || die "files of a network that was refused"
head -c 200 "$work/small.onnx" >"$work/cut.onnx"
hone compile "$work/cut.onnx" -o "$work/d" >/dev/null 2>"$work/said" && die "half a model"
[ "$(wc -l <"$work/said")" = 1 ] || die "more than a line: $(cat "$work/said")"
refused "give a FILE.onnx and -o DIR" hone compile
refused "give -o DIR" hone compile "$work/small.onnx"
refused "a network, which" hone query "$work/small.onnx"

# A folder that cannot be: told before the kernels are made.
refused "bad.onnx: Not a directory" hone compile "$work/small.onnx" -o "$work/bad.onnx"
refused "bad.onnx/d: Not a directory" hone compile "$work/small.onnx" -o "$work/bad.onnx/d"
refused "an empty name" hone compile "$work/small.onnx" -o ""

# Whose files have a network's names: they stay, and the network goes elsewhere or is forced to.
mkdir "$work/own"
for file in model.h model.o libmodel.so model.weights model.json model.parts; do
	echo mine >"$work/own/$file"
	refused "own/$file: there already, and not of a network that hone compiled; give another -o DIR, or" \
		hone compile "$work/small.onnx" -o "$work/own"
	[ "$(cat "$work/own/$file")" = mine ] || die "$file was lost"
	rm "$work/own/$file"
done
ln -s "$work/small.onnx" "$work/own/model.h"
echo mine >"$work/own/notes"
refused "own/model.h: there already" hone compile "$work/small.onnx" -o "$work/own"
hone compile --force "$work/small.onnx" -o "$work/own" >/dev/null 2>"$work/said" || die "$(cat "$work/said")"
[ -f "$work/own/model.h" ] && [ ! -L "$work/own/model.h" ] || die "--force followed a link"
hone compile "$work/small.onnx" -o "$work/own" >/dev/null 2>"$work/said" || die "over itself: $(cat "$work/said")"
[ "$(cat "$work/own/notes")" = mine ] || die "a file of another name was lost"

# Any file's name becomes a C name, and --symbol has to be one.
for name in 7net _x hone_x 'it'"'"'s "a/
b' int; do
	mkdir -p "$work/names/$(dirname "$name")"
	cp "$work/small.onnx" "$work/names/$name.onnx"
	hone compile --auto "$work/names/$name.onnx" -o "$work/n" >/dev/null 2>"$work/said" || die "$(cat "$work/said")"
	printf '#include "model.h"\n' | cc -I"$work/n" -fsyntax-only -x c - || die "$name: a header that is no C"
done
for name in hone_x _x 7x 'a b' a-b ''; do
	refused '--symbol: "'"$name"'" is no C name' hone compile "$work/small.onnx" --symbol "$name" -o "$work/n"
done

# As JSON: the manifest.
hone compile "$work/small.onnx" -o "$work/j" --json >"$work/json" 2>/dev/null || die "--json"
cmp "$work/json" "$work/j/model.json" || die "--json is not the manifest"

# Stopped in the middle: no library, and nothing stays in the temporary folder.
kernels="/tmp/hone-compile-*/stopped$$_*"
has_begun()
{
	ls $kernels >/dev/null 2>&1
}
"$HONE_BIN/hone" compile --auto "$work/small.onnx" --symbol "stopped$$" -o "$work/s" >"$work/said" 2>&1 &
stopped=$!
within 60 has_begun || die "no kernel is begun: $(cat "$work/said")"
kill -TERM $stopped
wait $stopped
[ $? = 143 ] || die "stopped, with status $?: $(cat "$work/said")"
grep -qx "hone: stopped; no library was written" "$work/said" || die "said: $(cat "$work/said")"
[ ! -e "$work/s" ] || die "half a library: $(ls -R "$work/s")"
has_begun && die "left behind: $(ls $kernels)"
exit 0
