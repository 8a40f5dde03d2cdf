// `make specs SOURCES=FOLDER` with a checkout that is made up: what it counts, leaves out and finds.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../specs/sources.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'ebb-specs-'));
after(() => rmSync(folder, { recursive: true }));

const GOOD = `
import * as tf from '@tensorflow/tfjs-core';
import {ALL_ENVS, describeWithFlags, registerTestEnv} from '@tensorflow/tfjs-core/dist/jasmine_util';
import {twice} from './twice';
registerTestEnv({name: 'webgl2', backendName: 'webgl'});
describeWithFlags('twice', ALL_ENVS, () => {
  it('doubles', () => { expect(Array.from(twice(tf.tensor([1, 2])).dataSync())).toEqual([2, 4]); });
});
describe('without an environment', () => {
  it('has numbers', () => { expect(tf.scalar(3).add(1).dataSync()[0]).toBe(4); });
  it('fails everywhere', () => { expect(1 as number).toBe(2); });
});
`;
const TWICE = `
import {Tensor} from '@tensorflow/tfjs-core';
export function twice(x: Tensor): Tensor { return x.mul(2); }
`;
const NEEDS_MORE = `
import fetchMock from 'a-module-that-nobody-has';
it('is never run', () => { fetchMock(); });
`;
const CPU_ONLY = `
import * as tf from '@tensorflow/tfjs-core';
it('holds on cpu alone', () => { tf.scalar(1).add(1); expect(tf.getBackend()).toBe('cpu'); });
`;

function checkout(name, files) {
  const part = join(folder, name, 'tfjs-layers');
  mkdirSync(join(part, 'src', 'deeper'), { recursive: true });
  writeFileSync(join(part, 'package.json'), '{ "version": "4.22.0" }');
  for (const [file, text] of Object.entries(files)) writeFileSync(join(part, 'src', file), text);
  return join(folder, name);
}

function run(where) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, where], {
    encoding: 'utf8',
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
  });
  return { status, stdout, stderr };
}

test("what passes on cpu passes on ebb; what fails everywhere is nobody's fault", () => {
  const files = { 'a_test.ts': GOOD, 'twice.ts': TWICE, 'deeper/b_test.ts': NEEDS_MORE };
  const { status, stdout, stderr } = run(checkout('good', files));
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /tfjs-layers 4\.22\.0: 1 files of specs/);
  assert.match(
    stdout,
    /left out: tfjs-layers\/src\/deeper\/b_test\.ts: "a-module-that-nobody-has"/,
  );
  for (const backend of ['cpu', 'ebb']) {
    for (const mode of ['off', 'on']) {
      const line = `tfjs-layers on ${backend}, reclaim ${mode}: 3 specs, 2 passed, 1 failed, 0 pending`;
      assert.ok(stdout.includes(line), stdout);
    }
  }
});

test('a spec that holds on cpu alone is a fault', () => {
  const { status, stdout } = run(checkout('bad', { 'a_test.ts': CPU_ONLY }));
  assert.equal(status, 1, stdout);
  assert.match(stdout, /FAULT tfjs-layers on ebb, reclaim off: holds on cpu alone/);
});

test('a folder that is no checkout is refused', () => {
  const { status, stderr } = run(folder);
  assert.equal(status, 2);
  assert.match(stderr, /expected a checkout of TensorFlow\.js/);
});
