# probe.sh -- `hone board probe` measures this machine in under ten seconds and keeps what it
# says; what is kept is what daemon, client and records mean by "native", and a word of the
# line comes before it.
. "$(dirname "$0")/lib.sh"

hone board probe --json >"$work/probe" || die "probe"
for field in fma_gflops_one fma_gflops_all memory_gb_s fork_join_ns timer_ns; do
	field $field <"$work/probe" | grep -q '^[0-9]*[1-9]' || die "no $field: $(cat "$work/probe")"
done
head -1 "$HONE_HOME/machine.target" | grep -q 'hone board probe' || die "no file"
grep -q '^cpu -isa=' "$HONE_HOME/machine.target" || die "$(cat "$HONE_HOME/machine.target")"
refused "want .hone board probe" hone board
refused "want .hone board probe" hone board sell

# As if a level had been found to be shared.
isa=$(grep -o 'isa=[^ ]*' "$HONE_HOME/machine.target")
echo "cpu -$isa -l3_bytes=1234567" >"$HONE_HOME/machine.target"
start_honed
hone tune --text "$middle" --trials 8 -q >/dev/null || die "tune"
hone boards | grep -q 'target .* -l3_bytes=1234567' || die "not the board's: $(hone boards)"
hone query --text "$middle" --json | grep -q 'l3_bytes=1234567' || die "not the client's"
hone query --text "$middle" --target "native -l3_bytes=7654321" 2>&1 |
	grep -q 'another machine: .*l3_bytes 1234567, here 7654321' ||
	die "a word of the line is ignored: $(hone query --text "$middle" --target "native -l3_bytes=7654321" 2>&1)"
hone stop || die "stop"
within 10 gone || die "processes stayed"

echo "cpu -$isa -l3_bytes=lots" >"$HONE_HOME/machine.target"
refused "machine.target: target: '-l3_bytes=lots'" hone query --text "$middle"
echo ok
