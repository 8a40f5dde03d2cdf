// The browser of the system, and the tool as it was built.
import {execFileSync} from "node:child_process";
import {chromium} from "playwright-core";

const needed = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
};

export const chromiumPath = "/usr/bin/chromium";
export const tool = needed("EBB_TOOL");
export const liveProcess = () => needed("EBB_LIVE_PROCESS");

export function makeRecording(what, path) {
  execFileSync(needed("EBB_MAKE_RECORDING"), [what, path]);
}

export function launched(...more) {
  // In a container there is no sandbox to be had for root; what is opened is our own.
  return chromium.launch({executablePath: chromiumPath, args: ["--no-sandbox", "--disable-gpu", ...more]});
}
