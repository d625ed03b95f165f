# cold.sh -- cold caches are a choice of a job: a task of its own beside the warm one, which its
# records say and a killed daemon's job keeps.  On the fake board, whose cold times are arithmetic:
# what the arguments take from memory comes on top.
. "$(dirname "$0")/lib.sh"

export HONE_BOARD=fake HONE_TEST_HOOKS=1 HONE_TEST_FAKE="sleep_ms=1"

# what_is FIELD OPTIONS...: of the answer on disk.
what_is()
{
	name=$1
	shift
	hone query --text "$middle" --target fake --json "$@" | field "$name"
}

# Both beside each other, with records, bests and naive times of their own.
hone tune --text "$middle" --trials 24 --json -q >"$work/warm" || die "tune"
refused "not tuned yet" hone query --text "$middle" --target fake --cold
hone tune --cold --text "$middle" --trials 40 --json -q >"$work/cold" || die "tune --cold"
[ "$(field warm <"$work/cold")" = 0 ] || die "the warm task's records were taken"
for cache in warm cold; do
	[ "$(field cache <"$work/$cache")" = $cache ] || die "no $cache job: $(cat "$work/$cache")"
	flag=--$cache
	[ $cache = warm ] && flag=
	[ "$(what_is cache $flag)" = $cache ] || die "the best is not $cache"
	[ "$(what_is trials $flag)" = "$(field trials <"$work/$cache")" ] || die "$cache: trials"
	[ "$(what_is key $flag)" = "$(field key <"$work/$cache")" ] || die "$cache: key"
	# key and words
	hone query --key "$(what_is key $flag)" --target fake --json >"$work/by-key" || die "--key"
	[ "$(field cache <"$work/by-key")" = $cache ] || die "by key: $(cat "$work/by-key")"
	hone query --text "$middle" --target fake $flag >"$work/said" || die "query"
	[ "$(grep -c 'cold caches' "$work/said")" = "$([ $cache = cold ] && echo 1 || echo 0)" ] ||
		die "$cache: $(cat "$work/said")"
done
# 3 * 256 KiB at 10 GB/s a core; and the cold search began with the warm one's best program.
cores=$(hone query --text "$middle" --target fake | grep -o 'num_cores=[0-9]*' | sed 's/.*=//')
echo "$(what_is naive_ns --cold) $(what_is naive_ns) $(what_is median_ns --cold) $(what_is median_ns) $cores" |
	awk '{ more = 3 * 262144 / (10 * $5); d = $1 - $2 - more; exit !(d * d < 1 && $3 - more < $4 + 1) }' ||
	die "cold $(what_is naive_ns --cold) and $(what_is median_ns --cold), warm $(what_is naive_ns) and $(what_is median_ns)"

# A record says so wherever it is shown: by its number, and exported.
start_honed
record=$(hone explain --text "$middle" --target fake --cold --json | field record)
[ "$(hone explain --record "$record" --json | field cache)" = cold ] || die "explain --record --json"
hone explain --record "$record" | head -1 | grep -q 'cold caches' || die "explain --record"

hone measure "$record" --json >"$work/again" || die "measure"
[ "$(sed 's/.*"stored"//' "$work/again" | field median_ns)" = "$(field median_ns <"$work/again")" ] ||
	die "measured again it is another: $(cat "$work/again")"

# The protocol's field is the same choice, of a job, a set and a query.
[ "$(hone jobs --json | field cache)" = "" ] || die "there are jobs: $(hone jobs)"
perl -MIO::Socket::UNIX -e '
	$s = IO::Socket::UNIX->new(Peer => $ENV{HONE_SOCKET}) or die;
	$params = sprintf q("text":"%s","target":"fake","trials":40,"cold":true), $ARGV[0];
	$task = sprintf q("tasks":[{"text":"%s"}],"target":"fake","trials":40,"cold":true), $ARGV[0];
	@call = (q("hello","params":{"protocol":[1,1]}), qq("submit","params":{$params}),
		qq("set.submit","params":{$task}), qq("query","params":{$params}));
	for $i (0 .. $#call) {
		printf $s qq({"jsonrpc":"2.0","id":%d,"method":%s}\n), $i, $call[$i];
		$s->flush;
		print scalar <$s>;
	}' "$middle" >"$work/raw" || die "no perl to speak the protocol with"
[ "$(wc -l <"$work/raw")" -eq 4 ] && ! grep -q '"error"' "$work/raw" || die "raw: $(cat "$work/raw")"
for line in 2 4; do
	[ "$(sed -n ${line}p "$work/raw" | field workload)" = "$(what_is key --cold)" ] ||
		die "raw: $(cat "$work/raw")"
done
[ "$(hone jobs --json | grep -o '"cache":"cold"' | wc -l)" -eq 3 ] || # the set's is in both lists
	die "not cold: $(hone jobs --json)"
all_done()
{
	[ -z "$(hone jobs --json | grep -o '"state":"[^"]*"' | grep -v done)" ]
}
within 60 all_done || die "they go on: $(hone jobs)"
hone stop && within 10 gone || die "stop"

# A job whose daemon was killed goes on as what it was.
killed_and_resumed "$HONE_BIN/hone" tune --cold --text "$middle" --trials 2000 -q
[ "$(hone jobs --json | field cache)" = cold ] || die "resumed as another: $(hone jobs --json)"
[ "$(hone jobs --json | field key)" = "$(what_is key --cold)" ] || die "another key"
hone jobs | head -1 | grep -q 'cold caches' || die "jobs: $(hone jobs)"
hone cancel "$job" >/dev/null || die "cancel"
hone stop || die "stop"
echo ok
