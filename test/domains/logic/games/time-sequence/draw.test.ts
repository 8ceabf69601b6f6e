import { expect, test } from "vitest";
import { timeSequence } from "../../../../../lib/domains/logic/games/time-sequence/draw.ts";
import { draws, LEVELS, metadataOf } from "../../drawing/draws.ts";

const minutes = (clock: string) => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3));

test.each(LEVELS)("at level %i no meeting is longer, and as many starts as stated allow it", (level) => {
  for (const puzzle of draws(timeSequence, level)) {
    const busy = new Map<string, Set<number>>();
    for (const [, day, spans] of puzzle.question.matchAll(/^\w+, (\w+): busy (.+)\.$/gm)) {
      const taken = busy.get(day!) ?? new Set();
      busy.set(day!, taken);
      for (const [, from, to] of spans!.matchAll(/(\d\d:\d\d) - (\d\d:\d\d)/g)) {
        for (let minute = minutes(from!); minute < minutes(to!); minute++) taken.add(minute);
      }
    }
    const durations: number[] = [];
    for (const taken of busy.values()) {
      for (let start = 9 * 60; start < 17 * 60; start += 30) {
        let end = start;
        while (end < 17 * 60 && !taken.has(end)) end++;
        durations.push(end - start);
      }
    }
    const longest = Math.max(...durations);
    expect(puzzle.answer).toEqual([longest, durations.filter((duration) => duration === longest).length]);
    expect(longest).toBeGreaterThan(0);
    expect(metadataOf(puzzle)).toEqual({
      records: { answers: { answer_maxLen: longest, answer_nums: (puzzle.answer as number[])[1] } },
    });
    expect(puzzle.question.match(/\d\d:\d\d - /g)).toHaveLength(puzzle.effort);
  }
});
