import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { PEOPLE } from "../../drawing/vocabulary.ts";

const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"] as const;
/** Start and end of the working day, in minutes since midnight. */
const OPEN = 9 * 60;
const CLOSE = 17 * 60;
const STEP = 5;
const START_EVERY = 30;

/** A span of a day in minutes since midnight; `from` is included, `to` is not. */
interface Span {
  readonly from: number;
  readonly to: number;
}

const clock = (minutes: number) =>
  `${`${Math.floor(minutes / 60)}`.padStart(2, "0")}:${`${minutes % 60}`.padStart(2, "0")}`;

/** Non-overlapping appointments of one day, in order. */
function appointments(random: CounterRandom, count: number): Span[] {
  const slots = Array.from({ length: (CLOSE - OPEN) / STEP + 1 }, (_, i) => OPEN + i * STEP);
  const ends = random.sample(slots, 2 * count).sort((a, b) => a - b);
  return Array.from({ length: count }, (_, i) => ({ from: ends[2 * i]!, to: ends[2 * i + 1]! }));
}

/** The longest meeting that starts on the hour or half-hour, and how many starts on any day allow it. */
function longest(days: readonly (readonly Span[])[]): { duration: number; ways: number } {
  const durations = days.flatMap((busy) => {
    const starts = Array.from({ length: (CLOSE - OPEN) / START_EVERY }, (_, i) => OPEN + i * START_EVERY);
    return starts
      .filter((start) => !busy.some(({ from, to }) => from <= start && start < to))
      .map(
        (start) =>
          Math.min(CLOSE, ...busy.filter(({ from }) => from > start).map(({ from }) => from)) - start,
      );
  });
  const duration = Math.max(0, ...durations);
  return { duration, ways: durations.filter((one) => one === duration).length };
}

/** Asks when people with full calendars can meet; the generator tries every start. */
export const timeSequence: PuzzleGenerator = {
  task: "time_sequence",
  measure: "appointments",

  draw(random, level) {
    const people = random.sample(PEOPLE, atLevel([2, 2, 3, 4], level));
    const days = DAYS.slice(0, atLevel([1, 2, 4, 5], level));
    const perDay = atLevel([2, 3, 3, 3], level);
    let calendar: Span[][][];
    let best: ReturnType<typeof longest>;
    do {
      calendar = people.map(() => days.map(() => appointments(random, perDay)));
      best = longest(days.map((_, day) => calendar.flatMap((own) => own[day]!)));
    } while (best.duration === 0);
    const lines = people.flatMap((person, i) =>
      days.map((day, d) => {
        const spans = calendar[i]![d]!.map(({ from, to }) => `${clock(from)} - ${clock(to)}`);
        return `${person}, ${day}: busy ${spans.join(", ")}.`;
      }),
    );
    return {
      question: `${people.join(", ")} want to meet on ${days.join(", ").replace(/, (?=\w+$)/, " or ")} between ${clock(OPEN)} and ${clock(CLOSE)}, when all are free from start to end. The meeting must start on the hour or half-hour.\n\n${lines.join("\n")}\n\nHow long can it be at most, in minutes, and at how many times (day and start) can a meeting of that length start? End with both numbers in brackets, like [45, 3].`,
      solution: `[${best.duration}, ${best.ways}]`,
      answer: [best.duration, best.ways],
      metadata: { records: { answers: { answer_maxLen: best.duration, answer_nums: best.ways } } },
      effort: people.length * days.length * perDay,
    };
  },
};
