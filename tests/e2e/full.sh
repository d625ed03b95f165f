# full.sh -- a disk that fills up stops tuning and loses nothing: jobs pause and say why, nothing new is
# taken, and when there is room they go on to their end.  And a store that is deleted or somebody
# else's.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || exit 77
mkdir -m 700 "$HONE_HOME"
mount -t tmpfs -o size=16m,mode=700 tmpfs "$HONE_HOME" 2>/dev/null || exit 77
trap 'clean; umount -l "$HONE_HOME" 2>/dev/null; rm -rf "$work"' EXIT

start_honed --board fake
hone tune --text "$small" --trials 1200 --seed 1 >/dev/null 2>"$work/said" &
tune=$!
within 60 tuned_some || die "no trials: $(hone jobs)"
dd if=/dev/zero of="$HONE_HOME/ballast" bs=4k 2>/dev/null
paused()
{
	hone jobs --json | grep -q '"paused":"the disk is full'
}
within 20 paused || die "no pause: $(hone jobs --json)"
hone jobs --json | grep -q '"state":"search"' || die "not in search: $(hone jobs --json)"
other='m2(float32 A[8,8], float32 B[8,8]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
refused 'hone: nothing can be submitted now: the disk is full (0 KiB free at' \
	hone tune --text "$other" --trials 5 --quiet
trials()
{
	hone jobs --json | sed 's/.*"name":"mm",//' | field trials
}
held=$(trials)
rm "$HONE_HOME/ballast"
hone tune --text "$other" --trials 5 --quiet >/dev/null || die "there is room again"
grep -q 'warn paused: .*the disk is full' "$HONE_LOG" || die "no pause in the log"
grep -q 'info the disk has room again' "$HONE_LOG" || die "not gone on"

# It goes on: more is stored than was, and nothing failed.
goes_on()
{
	[ "$(trials)" -gt "$held" ]
}
within 30 goes_on || die "no further than $held: $(hone jobs --json)"
wait $tune || die "tune: $(cat "$work/said")"
[ "$(trials)" -ge 1200 ] || die "not to its end: $(hone jobs --json)"
hone stop >/dev/null || die stop
wait $honed_pid
hone verify 2>&1 | grep -q DAMAGED && die "$(hone verify 2>&1)"
umount "$HONE_HOME" || die umount

# The store's folder goes away under honed.
mkdir -m 700 "$HONE_HOME" 2>/dev/null
start_honed --board fake
hone tune --text "$small" --trials 5 --quiet >/dev/null || die tune
# A space that no search ends: the job must still be tuning when the folder goes.
vast='m3(float32 A[512,512], float32 B[512,512]) -> C { C(i,j) +=! A(i,k) * B(k,j) }'
hone tune --text "$vast" --trials 1000000 --quiet >/dev/null 2>"$work/said" &
tune=$!
measured()
{
	hone jobs --json | grep -q '"name":"m3"[^}]*"trials":[1-9]'
}
within 60 measured || die "nothing measured: $(hone jobs --json)"
mv "$HONE_HOME" "$HONE_HOME.gone"
wait $tune && die "tuning went on without a store"
grep -q 'hone.sqlite: deleted or replaced while honed had it open' "$work/said" || die "$(cat "$work/said")"
refused 'hone: .*deleted or replaced while honed had it open; nothing can be stored any more' \
	hone tune --text "$small" --trials 6 --quiet
mv "$HONE_HOME.gone" "$HONE_HOME" # put back, as it says
hone tune --text "$small" --trials 6 --quiet >/dev/null || die "it is there again"
hone stop >/dev/null || die "stop again"
wait $honed_pid

# A folder of somebody else, or that others may write.
chmod 777 "$HONE_HOME"
refused 'hone: .*home: others may write there (mode 777); chmod 700 it' \
	hone tune --text "$small" --trials 6 --quiet
chmod 700 "$HONE_HOME"
chown 65534 "$HONE_HOME"
refused 'hone: .*home: belongs to user 65534; use a directory of your own' \
	hone tune --text "$small" --trials 6 --quiet
