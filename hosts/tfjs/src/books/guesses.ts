// Where tensors come from, mostly without a look at the stack, which costs as much as a small operation.
//
// Programs go round: what comes under the same name after the same place came from where it came last time. That is
// taken for granted, and looked at all the same at the 2nd, 4th, 8th, ... time and then at about every 64th. A guess
// that was wrong once is never made again.

/** At most this many births between two looks. */
const FARTHEST = 64;
/** More guesses than a program has places: it names things by number, and all begins anew. */
const MOST_GUESSES = 1 << 16;

const NEVER_LOOKED = 0;
const WRONG = -1;

export class Guess {
  /** Where such births came from whenever somebody looked; 0: from no user's code. */
  site = 0;
  /** Births from the last look to the next. */
  private distance = NEVER_LOOKED;
  private left = 0;

  /** Whether this birth may be taken for one from `site` without a look. */
  holds(): boolean {
    return --this.left >= 0;
  }

  /** Somebody looked, and it came from there. */
  saw(site: number): void {
    if (this.distance === NEVER_LOOKED) {
      this.site = site;
      this.distance = 1;
    } else if (site !== this.site || this.distance === WRONG) {
      this.distance = WRONG;
      this.left = 0;
    } else {
      this.distance = Math.min(2 * this.distance, FARTHEST);
      this.left = between(this.distance);
    }
  }
}

/** Not the same each time, or a program that goes round in 64 would be seen at one place only. */
function between(distance: number): number {
  return distance < 8 ? distance - 1 : Math.floor(distance * (0.5 + Math.random()));
}

/** Guesses by the name of what runs, and a number: what else is known of the birth. */
export class Guesses {
  private readonly named = new Map<string, Map<number, Guess>>();
  private count = 0;

  of(name: string, number: number): Guess {
    let numbered = this.named.get(name);
    if (numbered === undefined) this.named.set(name, (numbered = new Map()));
    return numbered.get(number) ?? this.add(numbered, number);
  }

  private add(numbered: Map<number, Guess>, number: number): Guess {
    const guess = new Guess();
    if (++this.count > MOST_GUESSES) {
      this.named.clear();
      this.count = 0;
    } else numbered.set(number, guess);
    return guess;
  }
}
