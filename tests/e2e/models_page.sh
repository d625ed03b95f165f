# models_page.sh -- docs/models.md does what it says: its commands and programs are run, in order, in
# an empty folder.
#
# A block `sh` is run, `c` is written to the file that its first line names, and of `console` each
# answer is compared letter by letter.  Blocks without a word show what a run printed once; they are
# not compared, for times differ.  Where pip cannot fetch the model (no network connection), a
# network with the same inputs and outputs takes its place.
. "$(dirname "$0")/lib.sh"
: "${HONE_COMPILE_MAKE:?}"

for program in cc python3; do
	command -v $program >/dev/null || { echo "skip: needs $program"; exit 77; }
done

PATH="$HONE_BIN:$PATH"
page="$work/page" blocks="$work/blocks" model=real
mkdir "$page" "$blocks"
awk -v dir="$blocks" '
	/^```/ && !inside { inside = 1; file = sprintf("%s/%02d.%s", dir, ++n, substr($0, 4)); next }
	/^```/ { inside = 0; close(file); next }
	inside { print > file }
' "$HONE_SOURCE/docs/models.md"

# What the first block makes: magika.onnx and labels.inc, whose 18th label is "c".
stand_in()
{
	model=stand-in
	echo "skipped: the trained model was not fetched ($(tail -1 "$work/said")); a stand-in is used"
	"$HONE_COMPILE_MAKE" "$page/magika.onnx" stand-in 17 || die "no stand-in"
	awk 'BEGIN { for (i = 0; i < 214; i++) { printf("\"%s\",", i == 17 ? "c" : "kind" i) } }' \
		>"$page/labels.inc"
}

# run FILE: the budget of tuning is for people; here it is a few trials.
run()
{
	sed 's/--seconds [0-9]*/--trials 40/' "$1" >"$1.now"
	(cd "$page" && PIP_RETRIES=0 PIP_DEFAULT_TIMEOUT=15 sh -eu "$1.now") >"$work/said" 2>&1
}

# answers FILE: as a transcript, "$ COMMAND" lines and what each prints.
answers()
{
	: >"$work/got"
	while IFS= read -r line; do
		case $line in
		'$ '*)
			printf '%s\n' "$line" >>"$work/got"
			(cd "$page" && sh -c "${line#'$ '}") >>"$work/got" 2>&1 </dev/null
			;;
		esac
	done <"$1"
	diff -u "$1" "$work/got" || die "other answers than the page's"
}

n_run=0
for block in "$blocks"/*; do
	case $block in
	*.sh)
		run "$block" || { grep -q 'pip download' "$block" && stand_in; } ||
			die "$(cat "$block"): $(cat "$work/said")"
		cp "$work/said" "$work/said.${block##*/}"
		n_run=$((n_run + 1))
		;;
	*.c) cp "$block" "$page/$(sed -n '1s|^/\* \([a-z]*\.c\) -- .*|\1|p' "$block")" || die "no name: $block" ;;
	*.console) answers "$block" ;;
	esac
done
[ "$n_run" -ge 8 ] || die "only $n_run blocks were run"
cat "$work"/said.*.sh | grep -q '^c, [0-9.]* %$' || die "kind.c is no C: $(cat "$work"/said.*)"
cat "$work"/said.*.sh | grep -q '^2 threads: [0-9.]* ms$' || die "no time: $(cat "$work"/said.*)"
[ -f "$page/arm/hone_pool.c" ] && [ -f "$page/out8/model.h" ] && [ ! -e "$page/odd" ] ||
	die "not the folders that the page speaks of"
python3 - "$page/out/model.json" "$HONE_SOURCE/docs/models.md" <<'PY' || die "the table of the manifest"
import json, re, sys
made = json.load(open(sys.argv[1]))
rows = open(sys.argv[2]).read().split("## The manifest")[1]
told = set(re.findall(r"`([a-z_]+)`|`kernels\[\]\.([a-z_]+)`", rows))
told = {a or b for a, b in told}
has = (set(made) | {k for kernel in made["kernels"] for k in kernel}) - {"kernels"}
if has - told:
    sys.exit(f"not on the page: {sorted(has - told)}")
PY
echo "ok, with the $model model"
