// Pictures of the report for the documents: node screenshots.mjs FOLDER. Three leaks, light and dark; two recordings.
import {execFileSync} from "node:child_process";
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import {launched, makeRecording, tool} from "./support.mjs";

const to = process.argv[2];
const folder = mkdtempSync(join(tmpdir(), "ebb-pictures-"));
const browser = await launched();
try {
  const file = (name) => join(folder, name);
  for (const what of ["three", "leak", "clean"]) makeRecording(what, file(`${what}.ebbrec`));
  execFileSync(tool, ["report", file("three.ebbrec"), "--html", file("report.html")]);
  execFileSync(tool, ["diff", file("clean.ebbrec"), file("leak.ebbrec"), "--html", file("diff.html")]);
  for (const [page, colorScheme, name] of [["report", "light", "report-light"], ["report", "dark", "report-dark"], ["diff", "light", "report-diff"]]) {
    const context = await browser.newContext({viewport: {width: 1100, height: 900}, colorScheme});
    const tab = await context.newPage();
    await tab.goto(pathToFileURL(file(`${page}.html`)).href);
    await tab.waitForSelector("html[data-ready]");
    await tab.screenshot({path: join(to, `${name}.png`), fullPage: true});
    await context.close();
  }
} finally {
  await browser.close();
  rmSync(folder, {recursive: true});
}
