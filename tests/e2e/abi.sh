#!/bin/sh
# What programs that were linked with libhone rely on is what it was: names and their versions,
# prototypes, where members of structs lie, values of enumerators and of numbers in the headers.
# tests/data/libhone.abi is the description of the last release. A line that goes or changes breaks
# programs; one that comes is taken by
#
#     HONE_BIN=build/bin HONE_SOURCE=. sh tests/e2e/abi.sh --bless
bless=${1:-}
. "$(dirname "$0")/lib.sh"

cc=${HONE_CC:-cc}
command -v "$cc" >/dev/null && command -v nm >/dev/null || {
	echo "skip: no $cc or no nm"
	exit 77
}
[ "$(getconf LONG_BIT)" = 64 ] || {
	echo "skip: the description is of 64 bits"
	exit 77
}
want=$HONE_SOURCE/tests/data/libhone.abi
library=$HONE_BIN/../lib/libhone.so.0
[ -e "$library" ] || die "$library is not built"

# A program that prints the description: declarations one by one, from headers without comments.
cat >"$work/describe.awk" <<'END'
function member(of, text,    name, n, part, i) {
	if (match(text, /\(\*[a-z_]+\)/)) {
		name = substr(text, RSTART + 2, RLENGTH - 3)
		layout(of, name)
		return
	}
	n = split(text, part, ",")
	for (i = 1; i <= n; i++) {
		name = part[i]
		sub(/\[[^]]*\] *$/, "", name)
		sub(/.*[ *]/, "", name)
		layout(of, name)
	}
}
function layout(of, name) {
	printf "printf(\"%s %s: at %%zu, %%zu bytes\\n\", offsetof(%s, %s), sizeof(((%s *)0)->%s));\n",
		of, name, of, name, of, name
}
function declared(text,    of, body, n, part, i) {
	gsub(/[ \t\n]+/, " ", text)
	sub(/^ /, "", text)
	if (text ~ /^(struct|enum) [a-z_]* ?\{/) {
		of = text
		sub(/ ?\{.*/, "", of)
		body = text
		sub(/^[^{]*\{ ?/, "", body)
		sub(/ ?\}.*/, "", body)
		n = split(body, part, of ~ /^enum/ ? "," : ";")
		for (i = 1; i <= n; i++) {
			sub(/^ /, "", part[i])
			sub(/ ?(=.*)?$/, "", part[i])
			if (part[i] == "")
				continue
			if (of ~ /^enum/)
				printf "printf(\"%s = %%ld\\n\", (long)%s);\n", part[i], part[i]
			else
				member(of, part[i])
		}
		if (of ~ /^struct/)
			printf "printf(\"%s: %%zu bytes\\n\", sizeof(%s));\n", of, of
	} else if (text ~ /\(/) {
		printf "puts(\"%s\");\n", text
	}
}
/^#define HONE_[A-Z0-9_]+ [-(0-9]/ {
	printf "printf(\"%s = %%ld\\n\", (long)%s);\n", $2, $2
}
/^#/ { next }
{
	text = text "\n"
	for (i = 1; i <= length($0); i++) {
		c = substr($0, i, 1)
		depth += (c == "{") - (c == "}")
		if (c == ";" && depth == 0) {
			declared(text)
			text = ""
		} else {
			text = text c
		}
	}
}
END
{
	echo '#include <stddef.h>'
	echo '#include <stdio.h>'
	for header in hone kernel load model pool tune; do
		echo "#include \"hone/$header.h\""
	done
	echo 'int main(void)'
	echo '{'
	for header in hone kernel load model pool tune; do
		sed '/^#ifdef __cplusplus/,/^#endif/d' "$HONE_SOURCE/include/hone/$header.h" |
			sed -z 's,/\*\([^*]\|\*\+[^*/]\)*\*\+/,,g' | awk -f "$work/describe.awk"
	done
	echo 'return 0;'
	echo '}'
} >"$work/describe.c"
"$cc" -std=c11 -I"$HONE_SOURCE/include" "$work/describe.c" -o "$work/describe" >"$work/out" 2>&1 ||
	die "$(head -5 "$work/out")"
{
	"$work/describe"
	nm -D --defined-only --with-symbol-versions "$library" | sed -n 's/^[0-9a-f]* [TDBR] \(.*@@.*\)/symbol \1/p'
} | LC_ALL=C sort >"$work/abi"
# the reader of headers reads all there is
for need in '^struct hone_model steps: at' '^struct hone_env parallel_for: at' '^HONE_MODEL_ARENA = 2' \
	'^struct hone_model_size most: at' '^HONE_CANCELLED = -6' '^symbol hone_query_key@@HONE_0.1' \
	'^int hone_store_open(' '^struct hone_progress: '; do
	grep -q "$need" "$work/abi" || die "no \"$need\" in the description: $(cat "$work/abi")"
done
if [ "$bless" = --bless ]; then
	cp "$work/abi" "$want"
	exit 0
fi
gone=$(LC_ALL=C comm -23 "$want" "$work/abi")
[ -z "$gone" ] || die "programs that are there break; this was, and is not so any more:
$gone"
new=$(LC_ALL=C comm -13 "$want" "$work/abi")
[ -z "$new" ] || die "take it into tests/data/libhone.abi (--bless), where it stays:
$new"
echo ok
