// What speedscope reads of the tool's exports: it has a parser of its own for each of these formats.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {after, before, test} from "node:test";
import {fileURLToPath, pathToFileURL} from "node:url";
import {launched, makeRecording, tool} from "./support.mjs";

const speedscope = fileURLToPath(new URL("node_modules/speedscope/dist/release/index.html", import.meta.url));
const LEAKED = 2000 * 40960;
let folder, browser;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "ebb-exports-"));
  for (const what of ["leak", "hostile"]) makeRecording(what, join(folder, `${what}.ebbrec`));
  browser = await launched("--enable-unsafe-swiftshader");
});
after(async () => {
  await browser?.close();
  rmSync(folder, {recursive: true});
});

function exported(what, format, ending) {
  const file = join(folder, `${what}.${ending}`);
  execFileSync(tool, ["export", join(folder, `${what}.ebbrec`), "--format", format, "-o", file]);
  return file;
}

// The rows of its view "Sandwich": total, own, name.
async function rowsInSpeedscope(file) {
  const script = join(folder, "load.js"), content = readFileSync(file).toString("base64");
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(file.split("/").at(-1))}, "${content}")`);
  const page = await browser.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("dialog", (dialog) => { wrong.push(dialog.message()); dialog.dismiss(); });
  await page.goto(`${pathToFileURL(speedscope).href}#localProfilePath=${script}`);
  await page.getByText("Sandwich").click();
  await page.getByText("Symbol Name").waitFor();
  await page.getByText(/^(handle|.*script)/).first().waitFor();
  const text = await page.locator("body").innerText();
  await page.close();
  assert.deepEqual(wrong, []);
  return text.slice(text.indexOf("Symbol Name")).split("\n").map((part) => part.trim());
}

for (const [format, ending, handle, bytes] of [
  ["speedscope", "speedscope.json", "handle", "78.13 MB (66%)"],
  ["heapprofile", "heapprofile", "handle", "78.13 MB (66%)"],
  ["pprof", "pb", "handle", "78.13 MB (66%)"],
  ["collapsed", "txt", "handle (/srv/app.js:42:7)", `${LEAKED.toLocaleString("en")} (66%)`],
]) {
  test(`speedscope reads ${format}`, async () => {
    const rows = await rowsInSpeedscope(exported("leak", format, ending));
    const at = rows.indexOf(handle);
    assert.deepEqual(rows.slice(at - 2, at + 1), [bytes, bytes, handle], rows.join(" | "));
    // Names that would be markup or an escape elsewhere are names there, too.
    const hostile = await rowsInSpeedscope(exported("hostile", format, `hostile.${ending}`));
    assert.ok(hostile.some((name) => name.includes("</script>") && name.includes("\\x1b[31m")), hostile.join(" | "));
  });
}
