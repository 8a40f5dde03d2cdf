"""What a test run came to: reading results, adding them up, printing the summary."""
import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field, replace
from pathlib import Path


@dataclass
class Suite:
    """One line of the summary."""
    name: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)  # lines a test printed as `note: ...`
    broken: list[str] = field(default_factory=list)  # names of what failed, where they are known
    files: list[str] = field(default_factory=list)  # where that is, for a second try

    def add(self, other: "Suite") -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.seconds += other.seconds
        self.notes += [note for note in other.notes if note not in self.notes]
        self.broken += other.broken


def one(name: str, ok: bool, seconds: float = 0.0) -> Suite:
    """A check that is a single pass or failure."""
    return Suite(name, passed=int(ok), failed=int(not ok), seconds=seconds)


def read_gtest(path: Path, name: str) -> Suite:
    """Counts the tests in one of GoogleTest's JSON files."""
    suite = Suite(name)
    for group in json.loads(path.read_text())["testsuites"]:
        for test in group["testsuite"]:
            if test.get("failures"):
                suite.failed += 1
                suite.broken.append(f"{test.get('classname')}.{test.get('name')}")
            elif test.get("result") == "COMPLETED":
                suite.passed += 1
            else:
                suite.skipped += 1
    return suite


def read_entry(case: ElementTree.Element, results: Path, name: str) -> Suite:
    """Counts one ctest entry: its GoogleTest file where it left one, else the entry itself.

    An executable that dies, or that a sanitizer fails at exit, counts as a failure whatever its
    tests said.
    """
    ok = case.get("status") == "run"
    counts = results / f"{case.get('name')}.json"
    suite = read_gtest(counts, name) if counts.exists() else one(name, ok)
    if not ok and suite.failed == 0:
        suite.failed = 1
    if not ok and not suite.broken:
        suite.broken = [str(case.get("name"))]
    suite.seconds = float(case.get("time") or 0)
    output = case.findtext("system-out") or ""
    suite.notes = [line[6:] for line in output.splitlines() if line.startswith("note: ")]
    return suite


def read_ctest(junit: Path, results: Path, labels: dict[str, str], prefix: str) -> list[Suite]:
    """One Suite for each label, in the order of the entries."""
    suites: dict[str, Suite] = {}
    for case in ElementTree.parse(junit).getroot().iter("testcase"):
        name = f"{prefix} {labels.get(case.get('name'), 'other')}"
        suites.setdefault(name, Suite(name)).add(read_entry(case, results, name))
    return list(suites.values())


def read_surefire(folder: Path, name: str) -> list[Suite]:
    """One Suite for each package of Java tests, and for each mode that surefire put in a file's name."""
    suites: dict[str, Suite] = {}
    for path in sorted(folder.glob("TEST-*.xml")):
        case = ElementTree.parse(path).getroot()
        package, _, rest = path.stem.removeprefix("TEST-").removeprefix("dev.ebb.djl.").partition(".")
        mode = rest.partition("-")[2]
        title = " ".join(part for part in (name, package, mode) if part)
        broken = int(case.get("failures")) + int(case.get("errors"))
        skipped = int(case.get("skipped"))
        passed = int(case.get("tests")) - broken - skipped
        seconds = float(case.get("time").replace(",", ""))
        names = [f"{test.get('classname', '').rpartition('.')[2]}.{test.get('name')}" for test in case.iter("testcase")
                 if test.find("failure") is not None or test.find("error") is not None]
        suites.setdefault(title, Suite(title)).add(Suite(title, passed, broken, skipped, seconds, broken=names))
    return list(suites.values())


def read_tap(text: str, name: str, ok: bool) -> Suite:
    """Counts what `# pass 3` and the like say at the end of a run of Node's tests.

    A run that failed without saying so counts as a failure.
    """
    def count(*words: str) -> int:
        found = re.findall(rf"^# (?:{'|'.join(words)}) (\d+)", text, re.MULTILINE)
        return sum(map(int, found))

    broken = tap_failures(text)
    suite = Suite(name, count("pass"), count("fail", "cancelled"), count("skipped", "todo"),
                  broken=[what for what, _ in broken], files=sorted({file for _, file in broken if file}))
    if suite.failed == 0 and (not ok or suite.passed == 0):
        suite.failed = 1
    return suite


TAP_FAILURE = re.compile(r"^( *)not ok \d+ - (.*)\n((?:\1  ---\n(?:.*\n)*?\1  \.\.\.\n)?)", re.MULTILINE)
TAP_ERROR = re.compile(r"^ *error: (?:(?:'|\")(.*)(?:'|\")$|\|-\n((?:.*\n)*?) *(?:code|name|stack):)", re.MULTILINE)
SAID_AT_MOST = 200


def tap_failures(text: str) -> list[tuple[str, str]]:
    """Each test that failed, with the start of its error, and the file that it is in, where these are known.

    A group that failed for a test in it is not one.
    """
    found = []
    for _, name, block in TAP_FAILURE.findall(text):
        if "failureType: 'subtestsFailed'" in block:
            continue
        error = TAP_ERROR.search(block)
        said = " ".join((error[1] or error[2] or "").split()) if error else ""
        file = re.search(r"location: '(.*?)(?::\d+)*'", block)
        found.append((f"{name}: {said[:SAID_AT_MOST]}" if said else name, file[1] if file else ""))
    return found


def tried_again(first: Suite, second: Suite) -> Suite:
    """What a second run, of the files that failed and alone, makes of the first. What passes only then is a note."""
    if second.failed:
        return replace(first, broken=first.broken + [f"again: {what}" for what in second.broken])
    notes = first.notes + [f"failed once, then passed alone: {what}" for what in first.broken]
    return replace(first, passed=first.passed + first.failed, failed=0, notes=notes, broken=[])


SPECS_RUN = re.compile(r"^(\w+), reclaim (\w+): (\d+) specs, (\d+) passed.*\((.*) s\)")
SPECS_FAULT = re.compile(r"^ +FAULT differs with (?:reclaim (on)|collections (forced))")


def read_specs(text: str, ok: bool) -> list[Suite]:
    """One Suite for each backend and mode of hosts/tfjs/specs; jasmine's own counts are its note.

    Failed are those that Ebb makes fail. Skipped: pending, or failing without Ebb as well, or
    counting tensors that they dropped.
    """
    suites: dict[str, Suite] = {}
    backend, others = "", 0
    for line in text.splitlines():
        if run := SPECS_RUN.match(line):
            backend, mode, specs, passed, seconds = run.groups()
            suites[f"{backend} {mode}"] = Suite(
                f"specs {backend} {mode}", int(passed), 0, int(specs) - int(passed),
                float(seconds), [line])
        elif fault := SPECS_FAULT.match(line):
            suite = suites[f"{backend} {fault[1] or fault[2]}"]
            suite.failed, suite.skipped = suite.failed + 1, suite.skipped - 1
            suite.broken.append(line.partition(": ")[2])
        elif "FAULT" in line:
            others += 1
    found = list(suites.values())
    if others or (not ok and not any(suite.failed for suite in found)):
        found.append(Suite("specs", failed=max(others, 1)))
    return found


def summary(suites: list[Suite]) -> str:
    """The table, and the closing line `N passed, N failed[, N skipped]`."""
    width = max([len(suite.name) for suite in suites] + [5])
    lines = [f"{'suite':<{width}}  passed  failed  skipped  seconds"]
    for suite in suites:
        lines.append(f"{suite.name:<{width}}  {suite.passed:>6}  {suite.failed:>6}  "
                     f"{suite.skipped:>7}  {suite.seconds:>7.1f}")
    return "\n".join(lines + ["", closing_line(suites)])


NAMED_AT_MOST = 20


def failures(suites: list[Suite]) -> str:
    """What failed, by name, for whoever reads only the end; empty if nothing did."""
    names = [f"  {suite.name}: {name}" for suite in suites if suite.failed
             for name in suite.broken or ["see its log"]]
    left = len(names) - NAMED_AT_MOST
    return "\n".join(["failed:", *names[:NAMED_AT_MOST], *([f"  and {left} more"] if left > 0 else [])]) if names else ""


def closing_line(suites: list[Suite]) -> str:
    total = Suite("total")
    for suite in suites:
        total.add(suite)
    line = f"{total.passed} passed, {total.failed} failed"
    return f"{line}, {total.skipped} skipped" if total.skipped else line
