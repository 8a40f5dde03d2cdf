// `ebb view` in a real browser: a recording, a span of it in more detail, and a process that runs.
import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {chmodSync, mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {createInterface} from "node:readline";
import {after, before, test} from "node:test";
import {launched, liveProcess, makeRecording, tool} from "./support.mjs";

let browser, folder, env;
const started = [];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "ebb-view-"));
  chmodSync(folder, 0o700);
  env = {...process.env, XDG_RUNTIME_DIR: folder};
  browser = await launched();
});
after(async () => {
  await browser?.close();
  for (const child of started) child.kill("SIGKILL");
  rmSync(folder, {recursive: true});
});

// Starts a program; its first line.
async function begun(program, ...words) {
  const child = spawn(program, words, {env, stdio: ["pipe", "pipe", "inherit"]});
  started.push(child);
  for await (const line of createInterface({input: child.stdout})) return {child, line};
  throw new Error(`${program} said nothing`);
}

async function viewed(...words) {
  const {line} = await begun(tool, "view", ...words);
  const [address] = /http:\S+/.exec(line);
  const context = await browser.newContext({viewport: {width: 1280, height: 1400}});
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => wrong.push(message.text()));
  await page.goto(address);
  await page.waitForSelector("html[data-ready]");
  return {page, wrong, address, close: () => context.close()};
}

test("a recording is served, and a span of it in more detail", async () => {
  makeRecording("leak", join(folder, "leak.ebbrec"));
  const {page, wrong, address, close} = await viewed(join(folder, "leak.ebbrec"));
  assert.ok(!page.url().includes("token"));
  assert.match(await page.locator("#verdict").innerText(), /growing \+3\.91 MB\/s: handle/);
  await page.locator("#timeline").focus();
  for (let i = 0; i < 50; ++i) await page.keyboard.press("ArrowRight");
  for (let i = 0; i < 5; ++i) await page.keyboard.press("Shift+ArrowRight");
  const answer = page.waitForResponse((response) => response.url().includes("data.json?from=10.0"));
  await page.locator("#closer").click();
  const data = await (await answer).json();
  assert.ok(data.recordings[0].width < 0.003);
  // One second from 10 on: 100 tensors of 40 KB and as many temporaries.
  await page.keyboard.press("4");
  await page.waitForTimeout(100);
  const made = Number(/, ([\d.]+) MB/.exec((await page.locator("#flame div").allInnerTexts())[0])[1]);
  assert.ok(Math.abs(made - 104) < 3, made);
  assert.deepEqual(wrong, []);

  // Another page of the browser's does not get at it: neither by its cookie, nor as a frame.
  const port = new URL(address).port;
  const other = await page.context().newPage();
  await other.route("http://evil.example/", (route) => route.fulfill({contentType: "text/html", body: "<h1>evil</h1>"}));
  await other.goto("http://evil.example/");
  const stolen = await other.evaluate(async (at) => {
    try { return await (await fetch(at, {credentials: "include"})).text(); } catch (error) { return String(error); }
  }, `http://127.0.0.1:${port}/data.json`);
  assert.match(stolen, /TypeError/);
  await close();
});

test("a process is followed while it runs", async () => {
  const {child} = await begun(liveProcess());
  const {page, wrong, close} = await viewed("--live", String(child.pid));
  const alive = async () => Number((await page.locator("#figures dd").nth(4).innerText()).replaceAll(",", ""));
  const first = await alive();
  await page.waitForFunction((before) => Number(document.querySelectorAll("#figures dd")[4].innerText.replaceAll(",", "")) > before, first, {timeout: 10000});
  assert.match(await page.locator("#program").innerText(), /live <\/script>\\x1b\[31m\.js/);
  assert.match(await page.locator("#about").innerText(), /still running/);
  child.stdin.end();
  await page.waitForFunction(() => !document.getElementById("about").innerText.includes("still running"), null, {timeout: 15000});
  assert.deepEqual(wrong, []);
  await close();
});
