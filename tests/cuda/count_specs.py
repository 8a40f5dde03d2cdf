"""Counts the outcomes in a result of hosts/tfjs/specs/child.cjs, and lists what failed beside it.

count_specs.py RESULT TAPE: fails where gradients were not the core's (TAPE 1), or some were (0).
"""
import json
import sys

LEAST_NATIVE = 500

path, tape = sys.argv[1:3]
try:
    result = json.load(open(path))
except (OSError, ValueError) as error:
    sys.exit(print("no result:", error))
specs = result["specs"]
states = [each["status"] for each in specs.values()]
native = result["tape"]["native"]
print(len(states), "specs,", ", ".join(f"{states.count(s)} {s}" for s in ("passed", "failed", "pending")) + ",",
      f"{native} native gradients", end="")
with open(path.replace(".json", "_failed.txt"), "w") as out:
    for name, each in specs.items():
        if each["status"] == "failed":
            print(name, *each.get("why", [])[:2], sep="\n    ", file=out)
if native < LEAST_NATIVE if tape == "1" else native > 0:
    sys.exit(" (wrong)")
