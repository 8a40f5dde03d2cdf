// Writes src/backend/table.ts, the core's table of operations as TypeScript, if it is not as it was.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, buildTarget, root } from './cmake.mjs';

buildTarget('ebb_print_ops');
const text = execFileSync(join(build, 'ebb_print_ops'), ['--typescript'], {
  encoding: 'utf8',
});
const file = join(root, 'src', 'backend', 'table.ts');
if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text);
