# embed.sh -- networks whose weights are in their objects: no second file; two of them in one program
# of C++, linked statically, with four threads each; a shared library opened and closed a thousand
# times; and a folder that had a file of weights before.
. "$(dirname "$0")/lib.sh"
: "${HONE_COMPILE_MAKE:?}"

if ! command -v cc >/dev/null || ! command -v c++ >/dev/null; then
	echo "skip: needs cc and c++"
	exit 77
fi

"$HONE_COMPILE_MAKE" "$work/small.onnx" && "$HONE_COMPILE_MAKE" "$work/open.onnx" batch || die "no models"

# compiled DIR FILE WORDS..
compiled()
{
	dir=$1
	shift
	hone compile --auto --embed "$@" -o "$dir" >"$work/files" 2>"$work/said" || die "$*: $(cat "$work/said")"
	while read -r file; do
		[ -f "$file" ] || die "said to be written: $file"
	done <"$work/files"
	[ ! -e "$dir/model.weights" ] || die "$dir: a file of weights"
}

hone compile --auto "$work/small.onnx" --symbol one -o "$work/one" >/dev/null 2>"$work/said" ||
	die "$(cat "$work/said")"
[ -s "$work/one/model.weights" ] || die "no weights"
compiled "$work/one" "$work/small.onnx" --symbol one
compiled "$work/three" "$work/open.onnx" --dim batch=3 --symbol three
compiled "$work/again" "$work/small.onnx" --symbol one
diff -r "$work/one" "$work/again" || die "other bytes the second time"

program()
{
	c++ -std=c++17 -O1 -Wall -Wextra -Werror -Wno-unused-parameter -I"$work" -I"$work/one" -o "$work/program" \
		"$HONE_SOURCE/tests/e2e/embed_run.cc" "$work/one/model.o" "$work/three/model.o" "$@" >"$work/cc" 2>&1
}
program -static -lm -lpthread || die "static: $(head -5 "$work/cc")"
[ "$("$work/program" 2>&1)" = right ] || die "static: $("$work/program" 2>&1)"
program -DSHARED -ldl -lm -lpthread || die "$(head -5 "$work/cc")"
[ "$("$work/program" "$work/one/libmodel.so" 2>&1)" = right ] || die "$("$work/program" "$work/one/libmodel.so" 2>&1)"

# The program maps the weights as the file has them: only read, at a page's beginning.
nm "$work/program" | grep -q '000 R one_weights$' || die "where are they: $(nm "$work/program" | grep weights)"
echo ok
