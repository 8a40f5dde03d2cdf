// A page's collector, in the place of src/node/collector.ts.
import { host } from '../host';
import type { PageHost } from './host';

export function collectMinor(): void {
  (host() as PageHost).pressure.collect(false);
}

export function collectMajor(): void {
  (host() as PageHost).pressure.collect(true);
}
