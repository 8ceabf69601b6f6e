import { expect, test } from "vitest";
import { asFamily, type PuzzleGenerator } from "../../../../lib/domains/logic/drawing/puzzle.ts";
import { CounterRandom } from "../../../../lib/random.ts";

const dice: PuzzleGenerator = {
  task: "dice",
  measure: "sides",
  draw(random, level) {
    const eyes = `${random.int(1, 6)}`;
    const solution = `\\boxed{${eyes}}`;
    return { question: "Eyes?", solution, answer: eyes, metadata: { sides: 6 }, effort: level };
  },
};

test("a generator is a family of logic problems in the shape of the public rows", () => {
  const family = asFamily(dice);
  expect(family).toMatchObject({ name: "dice", domain: "logic", verifier: "logic" });
  const { answer } = dice.draw(new CounterRandom(4), 3);
  expect(family.draw(new CounterRandom(4), 3)).toEqual({
    question: "Eyes?",
    answer: `\\boxed{${answer}}`,
    steps: "",
    reference: {
      task: "dice",
      game_data: { question: "Eyes?", answer, difficulty: 3, metadata: { sides: 6 } },
    },
  });
});
