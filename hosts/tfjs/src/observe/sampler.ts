// Which births of a sampled recording are worth a look at the stack: docs/recording.md, "Sampling". The core has the
// same in `ebb_record_wants_site`; here it costs no crossing.

/** What each tensor counts beside its bytes: `name_bytes` of a recording. */
const NAME_BYTES = 1024;

export class Sampler {
  /** Bytes until the next one is taken; NaN: none was drawn yet. */
  private left = NaN;

  /** `mean`: a place for about each so many bytes. */
  wants(bytes: number, mean: number): boolean {
    if (bytes >= mean) return true;
    if (Number.isNaN(this.left)) this.left = distance(mean);
    this.left -= bytes + NAME_BYTES;
    if (this.left > 0) return false;
    this.left = distance(mean);
    return true;
  }
}

function distance(mean: number): number {
  return -Math.log(1 - Math.random()) * mean;
}
