import { expect, test } from "vitest";
import { spaceReasoning } from "../../../../../lib/domains/logic/games/space-reasoning/draw.ts";
import { draws, LEVELS } from "../../drawing/draws.ts";

/** Places as complex numbers in steps: right is +1, up is +i. */
const STEP: Readonly<Record<string, readonly [number, number]>> = {
  right: [1, 0],
  left: [-1, 0],
  up: [0, 1],
  down: [0, -1],
};

function go(from: string, path: string): string {
  let [x, y] = from.split(",").map(Number) as [number, number];
  for (const [, count, direction] of path.matchAll(/(\d+) steps? (\w+)/g)) {
    x += Number(count) * STEP[direction!]![0];
    y += Number(count) * STEP[direction!]![1];
  }
  return `${x},${y}`;
}

test.each(LEVELS)("at level %i the object at the place asked about is the stated one", (level) => {
  for (const { question, answer, effort } of draws(spaceReasoning, level)) {
    const [, story, asked] = question.split("\n\n") as [string, string, string];
    const seen = new Map([["0,0", /You start at the (.+?)\./.exec(story)![1]!]]);
    let here = "0,0";
    const moves = [...story.matchAll(/You go (.+?) and see a (.+?)\./g)];
    for (const [, path, thing] of moves) {
      here = go(here, path!);
      expect(seen.has(here)).toBe(false);
      seen.set(here, thing!);
    }
    const [, start, path] = /you are at the (.+?) and go (.+?)\. Which/.exec(asked)!;
    const from = [...seen].find(([, thing]) => thing === start)![0];
    expect(seen.get(go(from, path!))).toBe(answer);
    expect(answer).not.toBe(start);
    expect(new Set(seen.values()).size).toBe(seen.size);
    expect(effort).toBe(moves.length);
  }
});
