/** Possible meanings of a time of day in minutes after midnight: two if it may be morning or afternoon. */
export interface Clock {
  readonly minutes: readonly number[];
  /** True if the text says "p.m." or "noon": without it 2:30 may be a ratio. */
  readonly sure: boolean;
}

const TIME = /^(\d{1,2})(?:\s*:\s*(\d{2}))?\s*(?:\\text\s*\{\s*)?(?:([ap])\.?\s*m\.?)?\s*\}?$/i;
const HALF_DAY = 12 * 60;

/** Reads "2:30 p.m.", "14:30", "3 am" and "2:30"; undefined for anything else. */
export function readClock(text: string): Clock | undefined {
  const match = TIME.exec(text.trim());
  if (match === null) return undefined;
  const [hours, minutes] = [Number(match[1]), Number(match[2] ?? 0)];
  const half = match[3]?.toLowerCase();
  if ((match[2] === undefined && half === undefined) || hours > 24 || minutes > 59) return undefined;
  if (half !== undefined) {
    if (hours < 1 || hours > 12) return undefined;
    return { minutes: [(hours % 12) * 60 + minutes + (half === "p" ? HALF_DAY : 0)], sure: true };
  }
  const at = (hours % 24) * 60 + minutes;
  return { minutes: hours >= 1 && hours <= 12 ? [at, (at + HALF_DAY) % (2 * HALF_DAY)] : [at], sure: false };
}

/** Compares two answers as times of day; undefined unless one of them is clearly a time. */
export function sameTime(gold: Clock | undefined, answer: Clock | undefined): boolean | undefined {
  if (!gold?.sure && !answer?.sure) return undefined;
  return gold !== undefined && answer !== undefined && gold.minutes.some((at) => answer.minutes.includes(at));
}
