# socket.sh -- the example client, Python's standard library alone, through honed's socket; and a
# honed that a service manager starts with the socket open: it serves there, and the socket stays.
. "$(dirname "$0")/lib.sh"

if ! command -v python3 >/dev/null; then
	echo "skip: needs python3"
	exit 77
fi
client=$HONE_SOURCE/examples/socket/client.py

# Listens on $HONE_SOCKET, and becomes honed with it, as systemd does.
cat >"$work/manager.py" <<'END'
import os, socket, sys
path = os.environ["HONE_SOCKET"]
os.makedirs(os.path.dirname(path), mode=0o700)
s = socket.socket(socket.AF_UNIX)
s.bind(path)
s.listen(5)
os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")
open(sys.argv[2], "w").close()
os.execv(sys.argv[1], ["honed"])
END
python3 "$work/manager.py" "$HONE_BIN/honed" "$work/listens" &
manager=$!
within 10 [ -e "$work/listens" ] || die "nobody listens"
python3 -I "$client" "$small" 4 >"$work/out" 2>&1 || die "client: $(cat "$work/out")"
grep -q '^[0-9]* best$' "$work/out" && grep -q '^[0-9]* done$' "$work/out" || die "events: $(cat "$work/out")"
best=$(sed -n 's/^best: \([0-9.]*\) ns$/\1/p' "$work/out")
asked=$(hone query -e "$small" --json | field median_ns)
[ "$(printf '%.4g' "$best")" = "$(printf '%.4g' "$asked")" ] || die "the client has $best, hone query $asked"
python3 -I "$client" 'no program' >"$work/out" 2>&1 && die "a bad program was taken"
hone stop || die "stop"
wait "$manager" || die "honed: status $?"
[ -S "$HONE_SOCKET" ] || die "the manager's socket is gone"
within 10 gone || die "processes stayed"
echo ok
