// What the tool packed: numbers of seven bits a byte, lowest first, in base64.

class Numbers {
  constructor(text) {
    const raw = atob(text ?? "");
    this.bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; ++i) this.bytes[i] = raw.charCodeAt(i);
    this.at = 0;
  }
  get more() { return this.at < this.bytes.length; }
  number() {
    let value = 0, factor = 1;
    for (;;) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      if (byte < 128 || byte === undefined) return value;
      factor *= 128;
    }
  }
  difference() {
    const folded = this.number();
    return folded % 2 === 1 ? -(folded + 1) / 2 : folded / 2;
  }
}

// Buckets and values to an array: `holds`: a bucket that is not named has the value before it.
function unpackedSeries(text, buckets, holds) {
  const series = new Float64Array(buckets), numbers = new Numbers(text);
  let bucket = 0, value = 0;
  while (numbers.more) {
    const next = Math.min(bucket + numbers.number(), buckets - 1);
    if (holds) series.fill(value, bucket, next);
    value += numbers.difference();
    series[next] = value;
    bucket = next;
  }
  if (holds) series.fill(value, bucket);
  return series;
}

function unpackedBlocks(device, end) {
  const numbers = new Numbers(device.data), n = device.count;
  const blocks = {begin: new Float64Array(n), end: new Float64Array(n), offset: new Float64Array(n),
                  bytes: new Float64Array(n), site: new Int32Array(n), alive: new Uint8Array(n), n};
  let time = 0, offset = 0;
  for (let i = 0; i < n; ++i) {
    time += numbers.number();
    const life = numbers.number();
    offset += numbers.difference();
    blocks.begin[i] = time / 1e6;
    blocks.end[i] = life === 0 ? end : (time + life - 1) / 1e6;
    blocks.alive[i] = life === 0 ? 1 : 0;
    blocks.offset[i] = offset;
    blocks.bytes[i] = numbers.number();
    blocks.site[i] = numbers.number() - 1;
  }
  blocks.bySite = Uint32Array.from({length: n}, (_, i) => i).sort((a, b) => blocks.site[a] - blocks.site[b]);  // one colour after the other
  return blocks;
}

class Site {
  constructor(recording, raw) {
    Object.assign(this, raw);
    this.recording = recording;
    this.stack = raw.frames.map((frame) => recording.frames[frame]);  // innermost first
    this.key = this.stack.join("\n");
    this.text = `${this.key}\n${raw.shapes}\n${raw.holder ?? ""}`.toLowerCase();
  }
  get title() { return this.stack[0]; }
  get liveSeries() {
    return this.live_ ??= unpackedSeries(this.liveAt, this.recording.buckets, true);
  }
  get madeSeries() {
    return this.made_ ??= unpackedSeries(this.madeIn, this.recording.buckets, false);
  }
}

class Recording {
  constructor(raw) {
    Object.assign(this, raw);
    this.sites = raw.sites.map((site) => new Site(this, site));
    this.mostSeries = unpackedSeries(raw.most, this.buckets, true);
    this.duration = Math.max(this.end, this.width, 1e-6);
  }
  bucketAt(seconds) {
    return Math.max(0, Math.min(this.buckets - 1, Math.floor((seconds - this.origin) / this.width)));
  }
  blocksOf(device) {
    return device.unpacked ??= unpackedBlocks(device, this.end);
  }
}
