// Where the native part can be had: a package for each platform, of which npm installs the one that fits.

/** The platforms that have one, `ebb-tfjs-<name>`; scripts/pack.mjs makes them. */
export const PLATFORMS = [
  'linux-x64',
  'linux-arm64',
  'linux-x64-musl',
  'linux-arm64-musl',
] as const;
/** The platforms that have the plug-in for NVIDIA's GPUs, `ebb-tfjs-cuda-<name>`. */
export const CUDA_PLATFORMS = ['linux-x64'] as const;

interface Report {
  excludeNetwork?: boolean;
  getReport(): object;
}

/** Node says which C library it runs on only in its report; if it names none, that is musl. */
function isMusl(): boolean {
  if (process.platform !== 'linux') return false;
  const report = process.report as Report;
  const { excludeNetwork } = report;
  report.excludeNetwork = true; // or it asks for the name of every open connection
  const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } };
  report.excludeNetwork = excludeNetwork ?? false;
  return header.glibcVersionRuntime === undefined;
}

let name: string | undefined;

/** The name of this one, whether it has a package or not. */
export function platform(): string {
  return (name ??= `${process.platform}-${process.arch}${isMusl() ? '-musl' : ''}`);
}

/** What a program is told that wants a GPU where the plug-in is not. */
export function howToGetCuda(): string {
  const here = platform();
  return (CUDA_PLATFORMS as readonly string[]).includes(here)
    ? `npm install ebb-tfjs-cuda-${here} brings it`
    : `there is no package of it for ${here}`;
}
