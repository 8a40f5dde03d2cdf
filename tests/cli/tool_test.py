"""Runs the tool `ebb` as people do, and gives what it exports to the tools it is for.

    tool_test.py <ebb> <make_recording>
"""
import json
import os
import pickle
import pickletools
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

EBB, MAKE = sys.argv[1:3]
LEAK = "handle (/srv/app.js:42:7)"


def ebb(*words: str) -> subprocess.CompletedProcess:
    return subprocess.run([EBB, *map(str, words)], capture_output=True, timeout=120)


# Counters by the name of their track: how many values, and the last; names of slices and moments.
READ_PERFETTO = """
import json, sys
from perfetto.protos.perfetto.trace import perfetto_trace_pb2
trace = perfetto_trace_pb2.Trace()
trace.ParseFromString(sys.stdin.buffer.read())
names, counters, marks = {}, {}, []
for packet in trace.packet:
    if packet.HasField("track_descriptor"):
        names[packet.track_descriptor.uuid] = packet.track_descriptor.name
    if not packet.HasField("track_event"):
        continue
    event = packet.track_event
    if event.type == event.TYPE_COUNTER:
        of = counters.setdefault(names[event.track_uuid], [0, 0])
        of[0], of[1] = of[0] + 1, event.double_counter_value or event.counter_value
    else:
        marks.append(event.name)
print(json.dumps({"counters": counters, "marks": marks}))
"""


def perfetto_packages(test: unittest.TestCase) -> str:
    """The folder of PyPI's perfetto, whose own classes read the trace: build/tools/perfetto."""
    place = Path(__file__).resolve().parents[2] / "build/tools/perfetto"
    if not (place / ".ready").exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        made = tempfile.mkdtemp(dir=place.parent)
        install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", made, "perfetto", "protobuf"]
        done = subprocess.run(install, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            test.skipTest(f"no perfetto from PyPI: {done.stderr[-200:]}")
        (Path(made) / ".ready").touch()
        try:
            os.rename(made, place)
        except OSError:  # another was faster
            shutil.rmtree(made)
    return str(place)


# What torch/cuda/_memory_viz.py makes of a snapshot: every view that it has, each of which checks the books in its way.
# Loaded by its path: it needs nothing of torch, which may want a GPU's libraries.
PYTORCHS_VIEWS = """
import importlib.util, json, os, pickle, re, sys
root = importlib.util.find_spec("torch").submodule_search_locations[0]
spec = importlib.util.spec_from_file_location("viz", os.path.join(root, "cuda", "_memory_viz.py"))
viz = importlib.util.module_from_spec(spec)
spec.loader.exec_module(viz)
with open(sys.argv[1], "rb") as file:
    data = pickle.load(file)
plain = lambda lines: lines
summary, trace = viz.segsum(data), viz.trace(data)
memory = [line for line in viz.memory(data, format_flamegraph=plain).splitlines() if ";active_allocated;" in line]
assert len(viz.segments(data, format_flamegraph=plain)) > 0
sys.stdout, out = sys.stderr, sys.stdout
assert viz.compare(data["segments"], data["segments"], format_flamegraph=plain) == ""
assert "Active Memory Timeline" in viz.trace_plot(data) and "Allocator State History" in viz.segment_plot(data)
places = {}
for line in memory:
    frames, size = line.rsplit(" ", 1)
    place = frames.split(";")[2].split(":")[-1]
    places[place] = places.get(place, 0) + int(size)
json.dump({"memory": sum(places.values()), "places": places, "segments": int(re.search(r"segments: (\\d+)", summary)[1]),
           "entries": [len(each) for each in data["device_traces"]] if "entries" in trace else None}, out)
"""


class Tool(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp())
        for what in ("leak", "clean", "hostile", "three", "foreign"):
            subprocess.run([MAKE, what, cls.folder / f"{what}.ebbrec"], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def file(self, what: str) -> Path:
        return self.folder / f"{what}.ebbrec"

    def exported(self, form: str, what: str = "leak", *more: str) -> bytes:
        done = ebb("export", self.file(what), "--format", form, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_report_names_the_line(self):
        done = ebb("report", self.file("leak"))
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"growing +3.91 MB/s: {LEAK}", done.stdout.decode())
        self.assertIn("flat at 40.0 MB", ebb("report", self.file("clean")).stdout.decode())
        report = json.loads(ebb("report", self.file("leak"), "--json").stdout)
        self.assertTrue(report["growing"])
        self.assertEqual((report["places"][0]["file"], report["places"][0]["line"]), ("/srv/app.js", 42))

    def test_a_bad_file_or_word_is_told_and_ends_with_2(self):
        nothing = self.folder / "nothing"
        nothing.write_bytes(b"not a recording \x1b[31m")
        for words in (["report", nothing], ["report", self.folder / "none"], ["report"], ["no"], [],
                      ["export", self.file("leak"), "--format", "x"], ["view", "--live", "12abc"], ["why", self.file("leak"), "none.js"],
                      ["view", "--live", self.file("leak")]):
            done = ebb(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertTrue(done.stderr)
            self.assertNotIn(b"\x1b", done.stderr)
        self.assertEqual(ebb("--version").returncode, 0)

    def test_check_ends_with_1_and_tells_where(self):
        base, summary = self.folder / "base.json", self.folder / "summary.md"
        self.assertEqual(ebb("check", self.file("clean"), "--write-baseline", base).returncode, 0)
        self.assertEqual(ebb("check", self.file("clean"), "--baseline", base).returncode, 0)
        done = ebb("check", self.file("leak"), "--baseline", base, "--annotate", "--summary", summary)
        self.assertEqual(done.returncode, 1)
        self.assertIn("::error file=/srv/app.js,line=42::memory made here grows", done.stdout.decode())
        self.assertIn("too much", summary.read_text())

    def test_check_does_not_pass_what_it_could_not_look_at(self):
        budget, cut = self.folder / "budget.json", self.folder / "cut.ebbrec"
        budget.write_text('{"peak": "1GB"}')
        cut.write_bytes(self.file("clean").read_bytes()[:40])
        done = ebb("check", cut, "--budget", budget)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(b"ends before anything is in it", done.stderr)
        done = ebb("check", self.file("clean"), "--baseline", self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"cannot read {self.folder}", done.stderr.decode())

    def test_what_cannot_be_written_is_no_success(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([EBB, "report", self.file("leak")], stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"No space left", done.stderr)

    def test_it_travels_light(self):
        dynamic = subprocess.run(["readelf", "-d", EBB], check=True, capture_output=True, text=True).stdout
        needed = set(re.findall(r"NEEDED.*\[(.*?)\]", dynamic))
        if any("san" in name for name in needed):
            self.skipTest("built with sanitizers")
        allowed = re.compile(r"(libc|libm|libgcc_s|libpthread|libdl|ld-linux-[\w-]+)\.so\.\d+")
        self.assertEqual([name for name in needed if not allowed.fullmatch(name)], [])
        stripped = self.folder / "stripped"
        subprocess.run(["strip", "-o", stripped, EBB], check=True)
        self.assertLessEqual(stripped.stat().st_size, 6 << 20)

    def test_collapsed(self):
        lines = self.exported("collapsed").decode().splitlines()
        self.assertIn(f"listen (/srv/app.js:80:3);{LEAK} {2000 * 40960}", lines)
        for line in self.exported("collapsed", "hostile").decode().splitlines():
            self.assertEqual(line.count(";"), 0)
            self.assertTrue(line.rsplit(" ", 1)[1].isdigit())
            self.assertTrue(line.isprintable(), line)

    def test_leaked_leaves_out_what_does_not_grow(self):
        self.assertNotIn(b"predict", self.exported("collapsed", "leak", "--value", "leaked"))
        self.assertIn(b"predict", self.exported("collapsed", "leak", "--value", "created"))

    def test_speedscope(self):
        profile = json.loads(self.exported("speedscope"))
        frames, sampled = profile["shared"]["frames"], profile["profiles"][0]
        self.assertEqual(sampled["endValue"], sum(sampled["weights"]))
        by_stack = {tuple(frames[i]["name"] for i in stack): weight
                    for stack, weight in zip(sampled["samples"], sampled["weights"])}
        self.assertEqual(by_stack[("listen", "handle")], 2000 * 40960)
        json.loads(self.exported("speedscope", "hostile"))

    def test_heapprofile(self):
        head = json.loads(self.exported("heapprofile"))["head"]
        listen = next(c for c in head["children"] if c["callFrame"]["functionName"] == "listen")
        handle = listen["children"][0]
        self.assertEqual(handle["selfSize"], 2000 * 40960)
        self.assertEqual(handle["callFrame"]["lineNumber"], 41)
        ids = []

        def walk(node):
            ids.append(node["id"])
            for child in node["children"]:
                walk(child)

        walk(head)
        self.assertEqual(len(ids), len(set(ids)))

    def test_pprof_is_read_by_pprof(self):
        if shutil.which("go") is None:
            self.skipTest("no go: its pprof is the judge")
        leak, clean = self.folder / "leak.pb", self.folder / "clean.pb"
        self.exported("pprof", "leak", "-o", str(leak))
        self.exported("pprof", "clean", "-o", str(clean))

        def top(*words):
            done = subprocess.run(["go", "tool", "pprof", "-top", "-unit=B", *map(str, words)],
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout

        self.assertRegex(top(leak), rf"{2000 * 40960}B .* handle")
        difference = top("-diff_base", clean, leak)
        self.assertRegex(difference, r"handle")
        self.assertNotRegex(difference, r"predict")

    def test_memory_viz_is_read_by_python(self):
        for what in ("leak", "hostile"):
            snapshot = pickle.loads(self.exported("memory_viz", what))
            segments, traces = snapshot["segments"], snapshot["device_traces"]
            self.assertEqual(sum(segment["allocated_size"] for segment in segments), 2000 * 40960 + (40 << 20))
            self.assertEqual(len({segment["address"] for segment in segments}), len(segments))
            for segment in segments:
                at = segment["address"]
                for block in segment["blocks"]:
                    self.assertEqual(block["address"], at)
                    at += block["size"]
                self.assertEqual(at, segment["address"] + segment["total_size"])
            self.assertEqual([len(trace) for trace in traces], [0, 4040 + 2 * 2000])
            # Played back, as the viewer does it, the trace ends with what the segments have.
            alive = {}
            for event in traces[1]:
                if event["action"] == "alloc":
                    alive[event["addr"]] = event["size"]
                elif event["action"] == "free_completed":
                    del alive[event["addr"]]
            blocks = {block["address"]: block["size"] for segment in segments for block in segment["blocks"]
                      if block["state"] == "active_allocated"}
            self.assertEqual(alive, blocks)
            times = [event["time_us"] for event in traces[1]]
            self.assertEqual(times, sorted(times))
            names = {frame["name"] for event in traces[1] for frame in event["frames"]}
            self.assertTrue(all(name.isprintable() for name in names), names)
        leak = pickle.loads(self.exported("memory_viz"))["device_traces"][1]
        self.assertIn([{"filename": "/srv/app.js", "line": 42, "name": "handle"},
                       {"filename": "/srv/app.js", "line": 80, "name": "listen"}],
                      [event["frames"] for event in leak])

    def test_memory_viz_is_what_pytorchs_viewer_can_take(self):
        for what in ("three", "foreign"):
            data = self.exported("memory_viz", what)
            snapshot = pickle.loads(data)
            trace = snapshot["device_traces"][1]
            operations = list(pickletools.genops(data))
            # It adds numbers of up to eight bytes, and takes a list in batches, each at once on its stack.
            self.assertTrue(all(data[at + 1] <= 8 for code, _, at in operations if code.name == "LONG1"))
            self.assertGreaterEqual(sum(code.name == "APPENDS" for code, _, _ in operations), len(trace) / 1000)
            # It goes back through the trace, and looks for the segment of each block.
            spans = [(each["address"], each["address"] + each["total_size"]) for each in snapshot["segments"]]
            self.assertEqual(spans, sorted(spans))
            self.assertTrue(all(one[1] <= next[0] for one, next in zip(spans, spans[1:])), what)
            for event in trace:
                self.assertTrue(any(begin <= event["addr"] and event["addr"] + event["size"] <= end for begin, end in spans), event)
            # No two storages are at one place at a time.
            alive = {}
            for event in trace:
                if event["action"] == "alloc":
                    self.assertNotIn(event["addr"], alive)
                    alive[event["addr"]] = event["size"]
                elif event["action"] == "free_completed":
                    self.assertEqual(alive.pop(event["addr"]), event["size"])
            ends = [address + size for address, size in sorted(alive.items())]
            self.assertTrue(all(end <= begin for end, begin in zip(ends, sorted(alive)[1:])))
            self.assertEqual(sum(alive.values()), sum(each["allocated_size"] for each in snapshot["segments"]))

    def test_memory_viz_is_read_by_pytorchs_own_code(self):
        python = os.environ.get("EBB_TORCH_PYTHON")
        if not python:
            self.skipTest("EBB_TORCH_PYTHON names no Python with torch")
        for what in ("leak", "hostile", "three", "foreign"):
            file = self.folder / f"{what}.pickle"
            file.write_bytes(self.exported("memory_viz", what))
            done = subprocess.run([python, "-c", PYTORCHS_VIEWS, file], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            seen = json.loads(done.stdout)
            segments = pickle.loads(file.read_bytes())["segments"]
            used = sum(segment["allocated_size"] for segment in segments)
            self.assertEqual(seen["memory"], used)
            self.assertEqual(seen["segments"], len(segments))
            self.assertEqual(seen["entries"], [0, len(pickle.loads(file.read_bytes())["device_traces"][1])])
            if what == "leak":
                self.assertEqual(seen["places"]["listen"], 2000 * 40960)

    def test_heapsnapshot_has_device_memory_on_the_objects_that_hold_it(self):
        if shutil.which("node") is None:
            self.skipTest("no node: it writes the snapshot")
        plain, grown = self.folder / "a.heapsnapshot", self.folder / "b.heapsnapshot"
        script = '''
            class DataId {}
            class Tensor { constructor(size, dtype, dataId) { this.size = size; this.dtype = dtype; this.dataId = dataId; } }
            const shared = new DataId();
            globalThis.cache = new Map([["a", new Tensor(1000000, "float32", shared)], ["b", new Tensor(500, "float32", shared)],
                                        ["c", new Tensor(7000, "bool", new DataId())], ["d", new Tensor(3, "string", new DataId())]]);
            require("v8").writeHeapSnapshot(process.argv[1], {exposeNumericValues: true});'''
        subprocess.run(["node", "-e", script, str(plain)], check=True, timeout=120)
        done = ebb("export", plain, "--format", "heapsnapshot", "-o", grown)
        self.assertEqual(done.returncode, 0, done.stderr)
        before, after = (json.loads(file.read_text()) for file in (plain, grown))
        self.assertEqual(list(after), list(before), "DevTools read the parts in their order only")
        fields = after["snapshot"]["meta"]["node_fields"]
        size, nodes, edges = len(fields), after["nodes"], after["edges"]
        self.assertEqual(len(nodes), size * after["snapshot"]["node_count"])
        self.assertEqual(len(edges), 3 * after["snapshot"]["edge_count"])
        self.assertEqual(len(nodes) - len(before["nodes"]), 2 * size)
        self.assertEqual(sum(nodes[fields.index("edge_count")::size]), len(edges) // 3)
        ids = nodes[fields.index("id")::size]
        self.assertEqual(len(ids), len(set(ids)))
        self.assertTrue(all(to % size == 0 and to < len(nodes) for to in edges[2::3]))
        # Who holds the new nodes, and how large they are.
        found, at = {}, 0
        for node in range(0, len(nodes), size):
            for edge in range(at, at + 3 * nodes[node + fields.index("edge_count")], 3):
                if edges[edge + 2] >= len(before["nodes"]):
                    found[after["strings"][nodes[node + fields.index("name")]]] = found.get("DataId", []) + [
                        nodes[edges[edge + 2] + fields.index("self_size")]]
            at += 3 * nodes[node + fields.index("edge_count")]
        self.assertEqual({name: sorted(sizes) for name, sizes in found.items()}, {"DataId": [7000, 4000000]})
        for nonsense in ("{}", "[1]", "nothing", '{"snapshot": {"meta": {"node_fields": []}}}'):
            plain.write_text(nonsense)
            self.assertEqual(ebb("export", plain, "--format", "heapsnapshot").returncode, 2, nonsense)

    def test_perfetto_is_a_sequence_of_packets(self):
        def varint(data, at):
            value = shift = 0
            while True:
                byte = data[at]
                at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
                if byte < 128:
                    return value, at

        data, at, packets = self.exported("perfetto"), 0, 0
        while at < len(data):
            tag, at = varint(data, at)
            self.assertEqual(tag, 1 << 3 | 2)
            size, at = varint(data, at)
            at, packets = at + size, packets + 1
        self.assertEqual(at, len(data))
        self.assertGreater(packets, 6000)
        done = subprocess.run([sys.executable, "-c", READ_PERFETTO], input=data, capture_output=True, timeout=300,
                              env={**os.environ, "PYTHONPATH": perfetto_packages(self)})
        self.assertEqual(done.returncode, 0, done.stderr)
        read = json.loads(done.stdout)
        self.assertTrue({"resident", "host heap"} <= set(read["counters"]), read)
        self.assertEqual(read["counters"]["resident"], [2000, 100 << 20])
        self.assertIn("half way", read["marks"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
