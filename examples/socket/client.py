"""Tune a computation through honed's socket, with Python's standard library alone (docs/proto.md).

    python client.py 'mm(float32 A[64,64], float32 B[64,64]) -> C { C(i,j) +=! A(i,k) * B(k,j) }' [TRIALS]
"""

import json
import os
import socket
import sys


class Honed:
    """One connection: requests are answered in any order, events come in between."""

    def __init__(self):
        path = os.environ.get("HONE_SOCKET") or os.environ["XDG_RUNTIME_DIR"] + "/hone/honed.sock"
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rw", encoding="utf-8", newline="\n")
        self.last_id = 0
        self.events = []
        self.call("hello", protocol=[1, 1])

    def read(self):
        line = self.lines.readline()
        if not line:
            raise ConnectionError("honed has gone")
        return json.loads(line)

    def call(self, method, **params):
        self.last_id += 1
        request = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        self.lines.write(json.dumps(request) + "\n")
        self.lines.flush()
        while True:
            answer = self.read()
            if answer.get("id") != self.last_id:
                self.events.append(answer)
            elif "error" in answer:
                raise RuntimeError(answer["error"]["message"])
            else:
                return answer["result"]

    def follow(self, job):
        """The events of a job, to its end."""
        self.call("subscribe", job=job, since_seq=0)
        while True:
            event = self.events.pop(0) if self.events else self.read()
            if event.get("method") == "hone.event":
                yield event["params"]
                if event["params"]["type"] == "done":
                    return


honed = Honed()
text, trials = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 64
job = honed.call("submit", text=text, trials=trials)["job"]
for event in honed.follow(job):
    print(event["seq"], event["type"], flush=True)
best = honed.call("job.get", job=job)["best_ns"]
print(f"best: {best} ns")
