// A heap snapshot with device memory in it, and a heap profile, as Chromium's own DevTools read them: the modules that parse
// them there are served by the browser itself, and work out who retains and who made what.
import assert from "node:assert/strict";
import {execFileSync, spawn} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {createInterface} from "node:readline";
import {after, before, test} from "node:test";
import {chromium} from "playwright-core";
import {chromiumPath, makeRecording, tool} from "./support.mjs";

const PROGRAM = `
  class DataId {}
  class Tensor { constructor(size, dtype, dataId) { Object.assign(this, {size, dtype, dataId}); } }
  class Cache { constructor() { this.kept = new Map([["a", new Tensor(1000000, "float32", new DataId())], ["b", new Tensor(500, "int32", new DataId())]]); } }
  globalThis.cache = new Cache();
  require("v8").writeHeapSnapshot(process.argv[1], {exposeNumericValues: true});`;

let folder, child, allGone, browser, origin;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "ebb-heap-"));
  child = spawn(chromiumPath, ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", `--user-data-dir=${folder}/profile`, "about:blank"],
                {stdio: ["ignore", "ignore", "pipe"], detached: true});
  allGone = new Promise((resolve) => child.once("close", resolve));
  for await (const line of createInterface({input: child.stderr})) {
    const found = /DevTools listening on ws:\/\/(\S+?)\//.exec(line);
    if (found) { origin = `http://${found[1]}`; break; }
  }
  child.stderr.resume();
  browser = await chromium.connectOverCDP(origin);
});
// The browser's other processes write to the profile after the first has ended. All of them are in one group and have its
// stderr, which is closed when the last is gone.
after(async () => {
  await browser?.close();
  if (child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  await allGone;
  rmSync(folder, {recursive: true});
});

// What DevTools show of each class: how many, their own bytes, what they retain.
async function classes(file) {
  const page = await browser.contexts()[0].newPage();
  await page.goto(`${origin}/json/version`);
  const found = await page.evaluate(async (text) => {
    const {HeapSnapshot, HeapSnapshotLoader} = await import("/devtools/entrypoints/heap_snapshot_worker/heap_snapshot_worker.js");
    const quiet = {updateStatus() {}, updateProgress() {}, reportProblem(problem) { throw new Error(problem); }, sendEvent() {}};
    const loader = new HeapSnapshotLoader.HeapSnapshotLoader(quiet);
    loader.write(text);
    loader.close();
    await loader.parsingComplete;
    const {port1, port2} = new MessageChannel();
    const helper = new HeapSnapshot.SecondaryInitManager(port2);
    const snapshot = await loader.buildSnapshot(port1, helper);
    const all = Object.values(snapshot.aggregatesWithFilter({}));
    return {total: snapshot.totalSize, all: all.map(({name, count, self, maxRet}) => ({name, count, self, maxRet}))};
  }, readFileSync(file, "utf8"));
  await page.close();
  return {total: found.total, of: (name) => found.all.find((each) => each.name === name)};
}

test("DevTools count device memory to whoever keeps the tensors", async () => {
  const plain = join(folder, "plain.heapsnapshot"), grown = join(folder, "grown.heapsnapshot");
  execFileSync(process.execPath, ["-e", PROGRAM, plain]);
  execFileSync(tool, ["export", plain, "--format", "heapsnapshot", "-o", grown]);
  const without = await classes(plain), withDevice = await classes(grown);
  const bytes = 4 * 1000000 + 4 * 500;
  assert.equal(withDevice.total - without.total, bytes);
  assert.ok(without.of("Cache").maxRet < 1 << 20);
  assert.equal(withDevice.of("Cache").maxRet - without.of("Cache").maxRet, bytes);
  assert.equal(withDevice.of("Tensor").maxRet - without.of("Tensor").maxRet, bytes);
  assert.equal(withDevice.of("DataId").self, without.of("DataId").self);
});

test("DevTools take a heap profile apart", async () => {
  const recording = join(folder, "leak.ebbrec"), file = join(folder, "leak.heapprofile");
  makeRecording("leak", recording);
  execFileSync(tool, ["export", recording, "--format", "heapprofile", "-o", file]);
  const page = await browser.contexts()[0].newPage();
  await page.goto(`${origin}/json/version`);
  const found = await page.evaluate(async (text) => {
    const {HeapProfileView} = await import("/devtools/panels/profiler/profiler.js");
    const {root} = new HeapProfileView.SamplingHeapProfileModel(JSON.parse(text));
    const nodes = [];
    const walk = (node) => {
      nodes.push([node.functionName, node.self, node.total, node.url, node.lineNumber]);
      node.children.forEach(walk);
    };
    walk(root);
    return nodes;
  }, readFileSync(file, "utf8"));
  await page.close();
  const leaked = 2000 * 40960, model = 40 << 20;
  assert.deepEqual(found, [
    ["(root)", 0, leaked + model, "", -1], ["listen", 0, leaked, "/srv/app.js", 79],
    ["handle", leaked, leaked, "/srv/app.js", 41], ["predict", model, model, "/srv/model.js", 6]]);
});
