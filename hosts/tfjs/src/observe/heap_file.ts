// A heap snapshot as V8 writes it, read piece by piece: it may be longer than the longest buffer, and most of it are
// numbers that are wanted as numbers only.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const PIECE = 1 << 22;
/** More than a node or an edge takes, with all its numbers. */
const LONGEST_ROW = 1 << 10;
const END = 0x5d;
const ZERO = 0x30;
const NINE = 0x39;

const CUT_SHORT = 'the heap snapshot is cut short';

export class HeapFile {
  private readonly file: number;
  private readonly size: number;
  private readonly piece = Buffer.allocUnsafe(PIECE + 1);
  private length = 0; // of the piece
  private at = 0; // in the piece
  private next = 0; // in the file, behind the piece

  constructor(path: string) {
    this.file = openSync(path, 'r');
    this.size = fstatSync(this.file).size;
    this.refill();
  }

  /** What there is up to `"name":[`, and that itself; it is all in the first piece. */
  head(name: string): string {
    const key = `"${name}":[`;
    const at = this.piece.indexOf(key);
    if (at < 0 || at >= this.length) throw new Error(CUT_SHORT);
    this.at = at + key.length;
    return this.piece.toString('utf8', 0, this.at);
  }

  /** Goes on behind `"name":[`, which has to come next. */
  enter(name: string): void {
    let between = '';
    while (!between.endsWith('[')) {
      if (this.at === this.length && !this.refill()) throw new Error(CUT_SHORT);
      between += String.fromCharCode(this.piece[this.at++] as number);
    }
    if (!between.endsWith(`"${name}":[`)) throw new Error(`the heap snapshot has no ${name}`);
  }

  /** The numbers of an array, so many to a row, to its end. What `take` is given is the next row's, too. */
  rows(count: number, width: number, take: (row: number, numbers: Int32Array) => void): void {
    const { piece } = this;
    const numbers = new Int32Array(width);
    for (let row = 0; row < count; row++) {
      if (this.length - this.at < LONGEST_ROW) this.refill();
      let { at } = this;
      for (let column = 0; column < width; column++) {
        let byte = piece[at++] as number;
        while (byte < ZERO) byte = piece[at++] as number; // commas, the line's end
        if (byte > NINE) throw new Error(CUT_SHORT);
        let value = 0;
        for (; byte >= ZERO && byte <= NINE; byte = piece[at++] as number)
          value = (value * 10 + (byte - ZERO)) | 0;
        numbers[column] = value;
        at--;
      }
      this.at = at;
      take(row, numbers);
    }
  }

  /** All that is left, from behind `"name":[` on. */
  rest(name: string): Buffer {
    const left = Buffer.allocUnsafe(this.length - this.at + this.size - this.next);
    let to = this.piece.copy(left, 0, this.at, this.length);
    this.at = this.length;
    for (; this.refill(); this.at = this.length) to += this.piece.copy(left, to, 0, this.length);
    const key = `"${name}":[`;
    const at = left.indexOf(key);
    if (at < 0) throw new Error(CUT_SHORT);
    return left.subarray(at + key.length, to);
  }

  close(): void {
    closeSync(this.file);
  }

  /** What was not read yet, and as much more as there is room for; behind it the end of an array, for those who look no further. */
  private refill(): boolean {
    const left = this.piece.copy(this.piece, 0, this.at, this.length);
    const more = readSync(this.file, this.piece, left, PIECE - left, this.next);
    this.next += more;
    this.length = left + more;
    this.at = 0;
    this.piece[this.length] = END;
    return more > 0;
  }
}
