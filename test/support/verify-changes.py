"""For tests: what docs/verify/verify.py says of a state after each of many changes of one byte, which it takes back again.

Reads lines of JSON [file, place, xor] and prints a line for each: "whole", "record", "snapshot", or "exit" and a code.
"""
import importlib.util
import json
import os
import sys

checker, state = sys.argv[1:]
spec = importlib.util.spec_from_file_location("verify", checker)
verify = importlib.util.module_from_spec(spec)
spec.loader.exec_module(verify)

for line in sys.stdin:
    name, place, xor = json.loads(line)
    file = os.path.join(state, name)
    with open(file, "r+b") as changed:
        changed.seek(place)
        before = changed.read(1)
        changed.seek(place)
        changed.write(bytes([before[0] ^ xor]))
    try:
        verify.verify(state, verify.Chain(), None, False)
        print("whole")
    except verify.Damaged as damaged:
        print(damaged.kind, damaged.ident)
    except SystemExit as end:
        print("exit", end.code)
    with open(file, "r+b") as changed:
        changed.seek(place)
        changed.write(before)
    for left in ("ledger.db-wal", "ledger.db-shm"):
        if os.path.exists(os.path.join(state, left)):
            os.remove(os.path.join(state, left))
