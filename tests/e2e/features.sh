# features.sh -- what a processor has beside its instruction set is part of the target: a board that
# lacks it is refused, what is masked off is a target of its own, and no record goes from a machine
# that has something to one that lacks it.
. "$(dirname "$0")/lib.sh"

product='f(uint8 A[32,64], int8 B[64,48]) -> C { C(i,j) +=! int32(A(i,k)) * int32(B(k,j)) }'

# The target line of a command that prints one.
line_of()
{
	hone tune --trials 0 --unchecked --text "$product" --target "$1" | sed -n 's/^  target  //p'
}
features_of()
{
	line_of "$1" | grep -o -- ' -mattr=[^ ]*' | sed 's/ -mattr=//'
}

refused "unknown feature '+abacus': isa .* has " "$HONE_BIN/honed" --board "native -mattr=+abacus"
isa=$(line_of native | sed 's/.*-isa=\([^ ]*\) .*/\1/')
known=$(sed 's/.* has //' "$work/err")
own=$(features_of native)
for feature in $(echo "$known" | tr ',' ' '); do
	case ",$own," in
	*",$feature,"*) ;;
	+*)
		refused "which cannot run code of isa $isa [^ ]*$feature[, ].* with vectors of .*: it has $isa" \
			"$HONE_BIN/honed" --board "native -mattr=$feature"
		lacking=$feature
		;;
	esac
done
refused "which cannot run code of isa" "$HONE_BIN/honed" --board "cpu -isa=aarch64-neon -vector_unit_bytes=4096"

# What this machine lacks can be asked for: the kernel is made, and not run.
if [ -n "${lacking-}" ]; then
	hone tune --trials 0 --text "$product" --target "native -mattr=$lacking" >"$work/out" || die "made for $lacking"
	grep -q "^  kernel  not run: it is made for $isa [^ ]*$lacking.*, and this machine is $isa" "$work/out" ||
		die "$lacking: $(cat "$work/out")"
fi
if [ -z "$own" ]; then
	echo "skip: this processor has none of $known"
	exit 77
fi
[ "$(features_of 'native -mattr=')" = "" ] || die "masked off: $(line_of 'native -mattr=')"
[ "$(features_of "cpu -mattr=$own")" = "$own" ] || die "the same: $(line_of "cpu -mattr=$own")"

# Measured with them: no answer for a machine without.
hone tune --text "$product" --trials 4 --seed 1 -q >/dev/null || die "tune"
refused "tuned for $isa $own, not for $isa; name one" hone query --text "$product" --target 'native -mattr='
hone replay --text "$product" --target 'native -mattr=' -o "$work/k" >/dev/null 2>"$work/err" && die "replay without"
grep -q "tuned for $isa $own, not for $isa;" "$work/err" || die "replay: $(cat "$work/err")"
within 10 gone || die "processes stayed"

# Measured without them: a target of its own, near for who has them.
HONE_BOARD='native -mattr=' hone tune --text "$product" --trials 4 --seed 1 -q >/dev/null || die "tune without"
hone query --text "$product" --target 'native -mattr=' | grep -q -- ' -mattr= ' || die "query without"
hone query --text "$product" | grep -q -- " -mattr=$own " || die "query with: $(hone query --text "$product")"
[ "$(hone ls --json | grep -o '"target":"[^"]*"' | sort -u | wc -l)" = 2 ] || die "targets: $(hone ls --json)"
within 10 gone || die "processes stayed"
rm -rf "$HONE_HOME"
HONE_BOARD='native -mattr=' hone tune --text "$product" --trials 4 --seed 1 -q >/dev/null || die "tune without"
first=${own%%,*}
hone query --text "$product" | grep -q "near .*${first#+} 0, here 1" ||
	die "not near: $(hone query --text "$product")"
within 10 gone || die "processes stayed"
echo ok
