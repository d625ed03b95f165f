# lib_cross.sh -- kernels for machines that this one is not, made here, run by whatever can run them,
# and held against the interpreter (cross_kernels.c, cross_run.c).  Sourced after lib.sh; expects
# HONE_CROSS_KERNELS.

: "${HONE_CROSS_KERNELS:?}"

# answers LINE COMPILER INSTRUCTIONS [RUNNER...]: all kernels for the target line give the right
# answers; the instructions, blanks between, are among theirs, and no others.
answers()
{
	line=$1 compiler=$2 want=$3
	shift 3
	dir=$work/cross
	rm -rf "$dir"
	mkdir "$dir"
	"$HONE_CROSS_KERNELS" make "$line" "$dir" >"$work/made" 2>&1 || die "$line: $(cat "$work/made")"
	used=$(grep -o 'by [a-z0-9_]*' "$work/made" | sed 's/by //' | sort -u | tr '\n' ' ')
	[ "$used" = "${want:+$want }" ] || die "$line: by \"$used\", not \"$want\": $(cat "$work/made")"
	"$compiler" -std=gnu11 -O1 -Wall -Wextra -Werror -I"$HONE_SOURCE/include" -I"$dir" \
		"$HONE_SOURCE/tests/e2e/cross_run.c" "$HONE_SOURCE/base/pool.c" "$dir"/*.o \
		-static -lm -lpthread -o "$dir/run" 2>"$work/err" || die "$line: $(head -5 "$work/err")"
	"$@" "$dir/run" "$dir/inputs" "$dir/outputs" >"$work/err" 2>&1 || die "$line: $(tail -5 "$work/err")"
	"$HONE_CROSS_KERNELS" check "$line" "$dir" >"$work/out" 2>"$work/err" ||
		die "$line: $(cat "$work/out") $(head -20 "$work/err")"
	echo "$line: $(cat "$work/made"): $(cat "$work/out")"
}
