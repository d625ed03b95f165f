"""What one.py of models and of AKG's kernels have in common: a test in a process of its own, whose
answer is a line of JSON."""

import json


class Refused(Exception):
    """hone says that it cannot compile this, and why."""


def dim(text):
    name, _, value = text.rpartition("=")
    return name, int(value)


def tell(test, args):
    """Runs test(args, found), which notes what it finds; whatever ends it is an answer, too."""
    found = {"status": "failed", "why": ""}
    try:
        test(args, found)
    except Refused as reason:
        found.update(status="refused", why=str(reason))
    except Exception as error:  # whatever it is, it is the answer to the question
        found["why"] = f"{type(error).__name__}: {error}".split("\n")[0]
    print(json.dumps(found))
    return 0
