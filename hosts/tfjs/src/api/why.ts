// What holds a tensor: for people who ask why it is still there.
import { type Hooks, hooksIfAny } from '../engine/hooks';
import { isTensor, type Tensor } from '../engine/tfjs';
import { badArgument, checkFlag, checkOptions } from '../errors';
import type { Holding } from '../observe/heap_paths';
import { findHoldings, mostly, tensorsOf } from '../observe/holders';
import { requireHooks } from './require_hooks';

export interface WhyOptions {
  /** Look also where the heap has more than 1 GB. It stops the program for seconds. */
  force?: boolean;
}

export interface Why {
  /** `global.cache (Map) -> .features (Array) -> [17]`; undefined: nothing but code that runs now. */
  heldBy: string | undefined;
  /** The whole way from a root of V8's heap, each step with what is there. */
  steps: string[];
  /** The place that made it, if one was taken. */
  madeAt: string | undefined;
}

export interface PlaceHolder {
  place: string;
  /** How many tensors were looked up: at most 64 of a place. */
  tensors: number;
  /** What holds most of them. */
  heldBy: string | undefined;
}

function check(what: string, options: WhyOptions): boolean {
  checkOptions(what, options, 'force');
  checkFlag(`${what}: force`, options.force);
  return options.force ?? false;
}

function madeAt({ books, sites }: Hooks, tensor: Tensor): string | undefined {
  const slot = books.slots.find(tensor.id);
  const site = slot < 0 ? 0 : books.slots.site(slot);
  return site === 0 ? undefined : sites.text(site);
}

/** Why a tensor is still there: the shortest way to it from a root. Takes a heap snapshot. */
export async function why(tensor: Tensor, options: WhyOptions = {}): Promise<Why> {
  if (!isTensor(tensor)) throw badArgument('why', tensor, 'a tensor');
  const force = check('why', options);
  const installed = hooksIfAny();
  const made = installed === undefined ? undefined : madeAt(installed, tensor);
  return answer(findHoldings([[tensor]], force), made);
}

/** Apart from who asks, whose variables would hold the tensor while the snapshot is read. */
async function answer(found: Promise<Holding[][]>, madeAt: string | undefined): Promise<Why> {
  const [[holding] = []] = await found;
  return { heldBy: holding?.heldBy, steps: holding?.steps ?? [], madeAt };
}

/**
 * What holds the tensors that were made at a place, such as 'server.js:42', by one heap snapshot. Places are known while
 * `trace` or a recording takes them.
 */
export async function holders(place: string, options: WhyOptions = {}): Promise<PlaceHolder[]> {
  if (typeof place !== 'string' || place === '')
    throw badArgument('holders', place, "part of a place, such as 'server.js:42'");
  const force = check('holders', options);
  const installed = requireHooks('holders');
  installed.books.collect(true, false);
  const places = installed.sites.places().filter((text) => text.includes(place));
  const groups = places.map((text) => tensorsOf(installed, text));
  const live = places.flatMap((text, i) => (groups[i]?.length ? [{ text, i }] : []));
  if (live.length === 0) return [];
  const found = await findHoldings(
    live.map(({ i }) => groups[i] as Tensor[]),
    force,
  );
  return live.map(({ text }, at) => ({
    place: text,
    tensors: found[at]?.length ?? 0,
    heldBy: mostly(found[at] ?? []),
  }));
}
