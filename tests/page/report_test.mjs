// The report in a real browser: each view is opened, brushed, filtered and read back.
//
//   EBB_TOOL=build/dev/bin/ebb EBB_MAKE_RECORDING=build/dev/tests/make_recording EBB_LIVE_PROCESS=build/dev/tests/live_process npm test
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdtempSync, rmSync, statSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {pathToFileURL} from "node:url";
import {launched, makeRecording, tool} from "./support.mjs";

let browser, folder;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "ebb-page-"));
  for (const what of ["leak", "clean", "hostile", "three"]) makeRecording(what, join(folder, `${what}.ebbrec`));
  browser = await launched();
});
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true});
});

function written(name, ...words) {
  const html = join(folder, `${name}.html`);
  execFileSync(tool, [...words.map((word) => (word.includes(".ebbrec") ? join(folder, word) : word)), "--html", html]);
  return html;
}

// A page that must not load anything, nor complain of anything.
async function opened(html, options = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 1400}, offline: true, ...options});
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => wrong.push(message.text()));
  page.on("dialog", (dialog) => { wrong.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith("file:")) wrong.push(request.url()); });
  await page.goto(pathToFileURL(html).href);
  await page.waitForSelector("html[data-ready]");
  return {page, wrong, close: () => context.close()};
}

const text = (page, selector) => page.locator(selector).innerText();
const flame = (page) => page.locator("#flame div").allInnerTexts();
const places = (page) => page.locator("#sites tbody .place button").allInnerTexts();

async function drag(page, from, to) {
  const box = await page.locator("#timeline").boundingBox();
  const x = (part) => box.x + 66 + part * (box.width - 66 - 26);
  await page.mouse.move(x(from), box.y + 100);
  await page.mouse.down();
  await page.mouse.move(x((from + to) / 2), box.y + 100);
  await page.mouse.move(x(to), box.y + 100);
  await page.mouse.up();
  await page.waitForTimeout(60);
}

test("says what the tool says, and draws every view", async () => {
  const {page, wrong, close} = await opened(written("leak", "report", "leak.ebbrec"));
  assert.match(await text(page, "#verdict"), /growing \+3\.91 MB\/s: handle \(\/srv\/app\.js:42:7\), 2,000 x float32\[32,784\]/);
  assert.match(await text(page, "#figures"), /at the end\s+118 MB/);
  assert.deepEqual(await places(page), ["handle (/srv/app.js:42:7)", "predict (/srv/model.js:7:12)"]);
  assert.match(await text(page, "#sites tbody tr:first-child"), /78\.1 MB[\s\S]*2,000[\s\S]*\+3\.91 MB\/s/);
  assert.deepEqual(await flame(page), ["all places, 118 MB", "listen (/srv/app.js:80:3)", "handle (/srv/app.js:42:7)", "predict (/srv/model.js:7:12)"]);
  assert.deepEqual((await page.locator("#legend button").allInnerTexts()).map((t) => t.trim()),
    ["in use", "most between", "committed", "budget", "resident", "host heap"]);
  for (const canvas of ["#timeline", "#blocks", "#sites canvas"]) {
    const painted = await page.locator(canvas).first().evaluate((c) => {
      const {data} = c.getContext("2d").getImageData(0, 0, c.width, c.height);
      return data.filter((v, i) => i % 4 === 3 && v > 0).length;
    });
    assert.ok(painted > 50, `${canvas} is empty`);
  }
  assert.deepEqual(wrong, []);
  await close();
});

test("a brushed span cuts flame graph, table and blocks anew", async () => {
  const {page, close} = await opened(written("leak", "report", "leak.ebbrec"));
  await drag(page, 0.25, 0.5);
  assert.match(await text(page, "#timeline-readout"), /span 5\.\d+ s to (10\.0|9\.\d+) s/);
  // 100 tensors of 40 KB a second: 5 s made 20 MB, and at 10 s 39 MB are there.
  const bytes = async () => Number(/^([\d.]+) MB/.exec(await text(page, "#sites tbody tr:first-child td:first-child"))[1]);
  assert.ok(Math.abs(await bytes() - 39) < 1, await bytes());
  await page.keyboard.press("3");
  await page.waitForTimeout(60);
  const [root, ...rest] = await flame(page);
  assert.ok(Math.abs(Number(/, ([\d.]+) MB/.exec(root)[1]) - 19.6) < 1, root);
  assert.deepEqual(rest, ["listen (/srv/app.js:80:3)", "handle (/srv/app.js:42:7)"]);
  await page.keyboard.press("Escape");
  await page.waitForTimeout(60);
  assert.doesNotMatch(await text(page, "#timeline-readout"), /span/);
  assert.ok(await page.locator("#clear-span").isHidden());
  assert.ok(await bytes() > 78);
  await close();
});

test("peak, leaked and made", async () => {
  const {page, close} = await opened(written("leak", "report", "leak.ebbrec"));
  const root = async (cut) => {
    await page.locator(`#cuts [data-cut=${cut}]`).click();
    await page.waitForTimeout(60);
    return (await flame(page))[0];
  };
  assert.equal(await root("leaked"), "all places, 78.1 MB");
  assert.equal(await root("made"), "all places, 2.07 GB");
  assert.equal(await root("peak"), "all places, 119 MB");
  assert.equal(await root("now"), "all places, 118 MB");
  await close();
});

test("places are filtered, sorted and opened", async () => {
  const {page, close} = await opened(written("three", "report", "three.ebbrec"));
  assert.equal((await page.locator("#sites .grows-fast").allInnerTexts()).length, 3);
  await page.keyboard.press("/");
  await page.keyboard.type("FEATURES.js");
  await page.waitForTimeout(60);
  assert.deepEqual(await places(page), ["embed (/srv/features.js:18:12)"]);
  assert.match(await text(page, "#sites-count"), /^1 of 8/);
  assert.ok(!(await flame(page)).includes("relu (/srv/model.js:31:10)"));
  await page.locator("#sites tbody .place button").click();
  await page.waitForTimeout(60);
  const opened_ = await text(page, "#sites tbody");
  assert.match(opened_, /held by: global\.cache \(Map\) -> \.features \(Array\)/);
  assert.match(opened_, /called by handle \(\/srv\/server\.js:42:9\)/);
  await page.keyboard.press("Escape");
  await page.waitForTimeout(60);
  assert.equal((await places(page)).length, 8);
  await page.locator("#sites th button", {hasText: "made"}).click();
  const made = await page.locator("#sites tbody tr td:nth-child(3)").allInnerTexts();
  assert.match(made[0], /GB|MB/);
  assert.equal(await page.locator("#sites th[aria-sort]").innerText(), "made");
  await close();
});

test("the flame graph zooms, by mouse and by keyboard", async () => {
  const {page, close} = await opened(written("three", "report", "three.ebbrec"));
  await page.locator("#flame div", {hasText: "onRequest"}).click();
  await page.waitForTimeout(60);
  assert.ok(!(await flame(page)).includes("train (/srv/train.js:61:5)"));
  assert.match(await text(page, "#flame-readout"), /onRequest .*%/);
  await page.keyboard.press("ArrowDown");
  assert.match(await page.evaluate(() => document.activeElement.textContent), /^handle /);
  await page.locator("#unzoom").click();
  await page.waitForTimeout(60);
  assert.ok((await flame(page)).includes("train (/srv/train.js:61:5)"));
  await close();
});

test("a block says what it is, under the pointer and under the cursor", async () => {
  const {page, close} = await opened(written("leak", "report", "leak.ebbrec"));
  const box = await page.locator("#blocks").boundingBox();
  await page.mouse.move(box.x + box.width - 40, box.y + box.height / 2);
  assert.match(await text(page, "#blocks-readout"), /^40\.0 KB · from [\d.]+ s on, alive · handle \(\/srv\/app\.js:42:7\)$/);
  await page.locator("#blocks").focus();
  for (let i = 0; i < 5; ++i) await page.keyboard.press("ArrowDown");
  assert.match(await text(page, "#blocks-readout"), /KB|MB/);
  assert.match(await text(page, "#blocks-count"), /^4,040 blocks$/);
  await close();
});

test("the timeline by keyboard", async () => {
  const {page, close} = await opened(written("leak", "report", "leak.ebbrec"));
  await page.locator("#timeline").focus();
  for (let i = 0; i < 25; ++i) await page.keyboard.press("ArrowRight");
  assert.match(await text(page, "#timeline-readout"), /at 5\.00 s · in use 59\.\d MB/);
  for (let i = 0; i < 25; ++i) await page.keyboard.press("Shift+ArrowRight");
  await page.waitForTimeout(60);
  assert.match(await text(page, "#timeline-readout"), /span 5\.00 s to 10\.0 s/);
  await close();
});

test("two recordings side by side, and their difference", async () => {
  const {page, wrong, close} = await opened(written("diff", "diff", "clean.ebbrec", "leak.ebbrec"));
  assert.match(await text(page, "#verdict"), /before: flat at 40\.0 MB[\s\S]*after: growing/);
  assert.match(await text(page, "#figures"), /40\.0 MB → 118 MB/);
  assert.match(await text(page, "#sites tbody tr:first-child"), /\+78\.1 MB\s+0 B\s+78\.1 MB[\s\S]*handle/);
  assert.match(await page.locator("#flame div", {hasText: "handle"}).getAttribute("title"), /0 B to 78\.1 MB \(\+78\.1 MB\)/);
  assert.deepEqual(wrong, []);
  await close();
});

test("what names say is shown, not obeyed", async () => {
  const {page, wrong, close} = await opened(written("hostile", "report", "hostile.ebbrec"));
  const shown = "</script><script>alert(1)</script>\\x1b[31m; `|` \\u202e\uFFFD\\x07 (evil.js:1:2)";
  assert.equal((await places(page))[0], shown);
  assert.ok((await flame(page)).includes(shown));
  assert.equal(await page.locator("script").count(), 2);
  assert.deepEqual(wrong, []);
  await close();
});

test("dark and light, as the system says and as chosen; print is light", async () => {
  const html = written("leak", "report", "leak.ebbrec");
  for (const colorScheme of ["light", "dark"]) {
    const {page, close} = await opened(html, {colorScheme});
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const isDark = async () => Number(/\d+/.exec(await ground())[0]) < 60;
    assert.equal(await isDark(), colorScheme === "dark");
    await page.keyboard.press("t");
    assert.equal(await isDark(), false);
    await page.keyboard.press("t");
    assert.equal(await isDark(), true);
    await page.emulateMedia({media: "print"});
    assert.equal(await isDark(), false);
    assert.ok(await page.locator("#filter").isHidden());
    await close();
  }
});

// How soon is for `make bench` to say: here other tests run beside it.
test("a million events: within 20 MB, and at hand", async () => {
  makeRecording("1000000", join(folder, "many.ebbrec"));
  const html = written("many", "report", "many.ebbrec");
  const bytes = statSync(html).size;
  assert.ok(bytes < 20 << 20, `${bytes} bytes`);
  const {page, wrong, close} = await opened(html);
  const ready = await page.evaluate(() => performance.now());
  await page.keyboard.press("2");
  await page.waitForTimeout(100);
  assert.equal(await page.locator("#cuts [aria-pressed=true]").innerText(), "peak");
  assert.match(await text(page, "#about"), /1,000,000 events/);
  assert.match(await text(page, "#blocks-count"), /the 40,000 largest of 5\d\d,\d\d\d blocks/);
  console.log(`# page of ${bytes} bytes, ready after ${ready.toFixed(0)} ms`);
  assert.deepEqual(wrong, []);
  await close();
});
