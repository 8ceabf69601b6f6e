import { describe, expect, test } from "vitest";
import type { Compat } from "../../lib/domains/compat.ts";
import { asFamily, type PuzzleGenerator } from "../../lib/domains/logic/drawing/puzzle.ts";
import { GAMES } from "../../lib/domains/logic/games.ts";
import { PUZZLES } from "../../lib/domains/logic/puzzles.ts";
import { logic } from "../../lib/domains/logic/verify.ts";
import { CounterRandom } from "../../lib/random.ts";
import { draws } from "../domains/logic/drawing/draws.ts";
import { longest } from "../long.ts";

// Properties of every generator. The tests of each generator check that a stated solution is the only one and that
// the question states the verifier's rules. Deliberate faults there (mutants) that its tests detect: a cryptarithm or
// a web of lies has two solutions; a swap, a loss or an operator is told differently from what happens; a cipher's
// rules are applied in another order; an appointment's first minute counts as free; siblings are cousins; quotients
// are not integers.

const LEVELS = [0, 1, 2, 3];

async function judge(
  { task }: PuzzleGenerator,
  puzzle: ReturnType<typeof draws>[number],
  text: string,
  compat: Compat,
) {
  const { question, answer, metadata } = puzzle;
  const game_data = { question, answer, difficulty: 0, metadata };
  const reference = logic.parseReference({ task, game_data, compat });
  return (await logic.verify({ text, finish: "stop" }, reference)).status;
}

test("tasks are unique, and every game that is judged has its generator, in one order", () => {
  const tasks = PUZZLES.map(({ task }) => task);
  expect(new Set(tasks).size).toBe(PUZZLES.length);
  expect(GAMES.map(({ task }) => task)).toEqual(tasks);
});

describe.each(PUZZLES)("puzzles of $task", (generator) => {
  const puzzles = LEVELS.map((level) => draws(generator, level, longest ? undefined : 8));

  test.each(LEVELS)(
    "at level %i are solved by their solution in both modes, thought or not",
    async (level) => {
      for (const puzzle of puzzles[level]!) {
        const { solution } = puzzle;
        expect([puzzle.question, await judge(generator, puzzle, solution, "reference")]).toEqual([
          puzzle.question,
          "correct",
        ]);
        expect(
          await judge(generator, puzzle, `<think>[[0]] \\boxed{}</think>${solution}<eos>`, "strict"),
        ).toBe("correct");
      }
    },
  );

  test.each(LEVELS)("at level %i are not solved by the solution of another one", async (level) => {
    const all = puzzles[level]!;
    const next = (i: number) => all[(i + 1) % all.length]!.solution;
    for (const [i, puzzle] of all.entries()) {
      if (next(i) === puzzle.solution) continue;
      expect([puzzle.question, next(i), await judge(generator, puzzle, next(i), "strict")]).toEqual([
        puzzle.question,
        next(i),
        "wrong",
      ]);
    }
  });

  test.each(LEVELS)("at level %i are not solved by nothing, nor by the question", async (level) => {
    for (const puzzle of puzzles[level]!.slice(0, 20)) {
      for (const text of ["\\boxed{}", "[]", "[[]]", "```python\n\n```", "no idea", puzzle.question]) {
        expect([text, await judge(generator, puzzle, text, "strict")]).not.toContain("correct");
      }
    }
  });

  test("get harder from level to level by the stated measure", () => {
    const means = puzzles.map((all) => all.reduce((sum, { effort }) => sum + effort, 0) / all.length);
    for (const level of [1, 2, 3]) expect([means, means[level]! > means[level - 1]!]).toEqual([means, true]);
  });

  test("are a function of the stream, differ, and are plain data", () => {
    for (const level of LEVELS) {
      expect(generator.draw(new CounterRandom(3, 7, level), level)).toEqual(puzzles[level]![7]);
      const different = new Set(puzzles[level]!.map(({ question }) => question)).size;
      expect(different).toBeGreaterThan(puzzles[level]!.length / 2);
      expect(structuredClone(puzzles[level]![0])).toEqual(puzzles[level]![0]);
    }
    expect(() => generator.draw(new CounterRandom(3), 4)).toThrow("level is 4, expected 0..3");
  });

  test("carry their row as a problem's reference", () => {
    const { question, answer, reference } = asFamily(generator).draw(new CounterRandom(3, 7, 2), 2);
    const { solution, ...puzzle } = puzzles[2]![7]!;
    expect({ question, answer, reference }).toEqual({
      question: puzzle.question,
      answer: solution,
      reference: {
        task: generator.task,
        game_data: { question, answer: puzzle.answer, difficulty: 2, metadata: puzzle.metadata },
      },
    });
  });
});
