# names.sh -- names that would act elsewhere: as C, as JSON, on a terminal, as a file.  A name of a
# computation that is none is refused in one clean line by every verb; what a name may be is harmless
# in headers, which compile; and nothing that is shown holds a control or a mark that is not seen.
. "$(dirname "$0")/lib.sh"

# One line, of shown characters only.
harmless()
{
	if LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]' "$1"; then
		die "$2 shows what acts: $(od -c "$1" | head -5)"
	fi
	iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 || die "$2 shows what is no UTF-8"
}

dag() # SIZE INPUT OUTPUT AXIS: a sum of a vector of that many, escaped for JSON already
{
	printf '{"format":"compute-dag/1","sizes":[["%s",1,64]],"ops":[' "$1"
	printf '{"kind":"placeholder","id":"%s","name":"%s","shape":[["var","%s"]],"dtype":"float32"},' "$2" "$2" "$1"
	printf '{"kind":"compute","id":"%s","name":"%s","tag":"","axes":[["%s",0,["var","%s"]]],' "$3" "$3" "$4" "$1"
	printf '"reduce_axes":[],"shape":[["var","%s"]],"dtype":["float32"],' "$1"
	printf '"body":[["add",["load","%s",["var","%s"]],["float",1,"float32"]]]}],' "$2" "$4"
	printf '"inputs_outputs":["%s","%s"]}\n' "$2" "$3"
}

# Each of the four refused, by verbs with and without honed.
n=0
for bad in '*/ int evil(void); /*' 'a\"b' 'x\",\"ok\":1,\"y\":\"z' 'a\\\\b' 'a\u001b[2Jb' 'a\u202eb' \
	'a\u2066b' 'a\nb' '../a' '-rf' '' 'a b' '%s%n' 'a/b' 'caf\u00e9' "a'b" '??/'; do
	for place in 1 2 3 4; do
		set -- N A C i
		case $place in
		1) set -- "$bad" A C i ;;
		2) set -- N "$bad" C i ;;
		3) set -- N A "$bad" i ;;
		4) set -- N A C "$bad" ;;
		esac
		dag "$@" >"$work/bad.json"
		for verb in "dag" "replay --auto -o $work/out" "query" "explain --auto"; do
			[ $((n % 7)) -eq 0 ] || [ "$verb" = dag ] || continue
			hone $verb "$work/bad.json" >"$work/stdout" 2>"$work/stderr"
			status=$?
			[ "$status" -gt 10 ] || die "$verb took the name '$bad' at $place: $status"
			[ "$(wc -l <"$work/stderr")" -eq 1 ] || die "$verb: $(cat "$work/stderr")"
			grep -Eq 'letters, digits|must be the name of' "$work/stderr" ||
				die "$verb: the name '$bad' at $place: $(cat "$work/stderr")"
			harmless "$work/stderr" "$verb"
			harmless "$work/stdout" "$verb"
		done
		n=$((n + 1))
	done
done
[ ! -e "$work/out" ] || [ -z "$(ls -A "$work/out")" ] || die "something was written: $(ls -A "$work/out")"

# Names that are fine, and would clash in a header with types, macros, words or each other.
symbol_of()
{
	printf 'k%s' "$1"
}
i=0
for names in 'int64_t float env' 'size_1 arg_1 arg_0' 'unix linux NULL' 'hone_env prepared args' \
	'T.v-1 B:0 C@x' 'sizes restrict EOF' '0 1x _t'; do
	i=$((i + 1))
	dag $names i >"$work/fine.json"
	echo '[]' >"$work/steps.json"
	"$HONE_BIN/hone-build" --dag "$work/fine.json" --naive --target native --symbol "$(symbol_of $i)" \
		-o "$work/k.o" --header "$work/k.h" >"$work/stdout" 2>&1 ||
		die "names '$names': $(cat "$work/stdout")"
	harmless "$work/k.h" "the header of '$names'"
	if command -v cc >/dev/null; then
		cc -std=gnu17 -Wall -Werror -fsyntax-only -I"$HONE_SOURCE/include" -x c "$work/k.h" 2>"$work/stderr" ||
			die "the header of '$names' does not compile: $(cat "$work/stderr"; cat "$work/k.h")"
	fi
done

# A program's file may be called anything.
evil=$(printf '%s/ev\033[31m\342\200\256\nil\302\233 -.json' "$work")
cat >"$evil" <<'DAG'
{"format":"compute-dag/1","ops":[{"kind":"placeholder","id":"A","name":"A","shape":[64],"dtype":"float32"},
{"kind":"compute","id":"C","name":"C","tag":"","axes":[["i",0,64]],"reduce_axes":[],"shape":[64],"dtype":["float32"],
"body":[["add",["load","A",["var","i"]],["float",1,"float32"]]]}],"inputs_outputs":["A","C"]}
DAG
"$HONE_BIN/honed" --board fake >"$work/honed" 2>&1 &
daemon=$!
up()
{
	hone boards >/dev/null 2>&1
}
within 20 up || die "honed does not answer"
for verb in "tune --trials 3" "tune --trials 4 --json" "query" "query --json" "explain" "why-failed --json" "jobs" \
	"jobs --json" "dag"; do
	case $verb in
	jobs*) hone $verb >"$work/stdout" 2>"$work/stderr" ;;
	*) hone $verb "$evil" >"$work/stdout" 2>"$work/stderr" ;;
	esac
	harmless "$work/stdout" "$verb"
	harmless "$work/stderr" "$verb"
done
kill "$daemon"
wait "$daemon"
harmless "$work/log" "the log"
echo ok
