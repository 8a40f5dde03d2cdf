"""Counts the outcomes in a result of hosts/tfjs/specs/child.cjs, and lists what failed beside it."""
import json
import sys

path = sys.argv[1]
try:
    specs = json.load(open(path))["specs"]
except (OSError, ValueError) as error:
    sys.exit(print("no result:", error))
states = [each["status"] for each in specs.values()]
print(len(states), "specs,", ", ".join(f"{states.count(s)} {s}" for s in ("passed", "failed", "pending")))
with open(path.replace(".json", "_failed.txt"), "w") as out:
    for name, each in specs.items():
        if each["status"] == "failed":
            print(name, *each.get("why", [])[:2], sep="\n    ", file=out)
