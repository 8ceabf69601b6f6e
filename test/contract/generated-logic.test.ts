// Deliberate faults (mutants) that these tests detect: of several boxes joined by "or" the last is taken; text around
// a box's answer is ignored.
import { expect, test } from "vitest";
import { PUZZLES } from "../../lib/domains/logic/puzzles.ts";
import { logic } from "../../lib/domains/logic/verify.ts";
import { CounterRandom } from "../../lib/random.ts";
import { type LogicStatement, logicStatements } from "../fixtures/logic-statements.ts";
import { Dice } from "../fixtures/math-dice.ts";
import { longest } from "../long.ts";

const DRAWS = longest ? 25 : 3;
/** The share of right answers that may be refused. */
const MOST_REFUSED = 0.02;

/** Games that take the whole response as the answer, so that extra words make it wrong. */
const WHOLE: ReadonlySet<string> = new Set([
  "dyck_language",
  "dyck_language_errors",
  "dyck_language_reasoning_errors",
]);
/** Games with more than one solution: a changed cell may give another right one. */
const MANY: ReadonlySet<string> = new Set(["math_path"]);

test(`strict accepts each game's solution as models write it, and neither near misses nor hedges nor nothing`, async () => {
  const dice = new Dice(20_261_128);
  const counts = { right: 0, near: 0, hedge: 0, blank: 0 };
  const paid: unknown[] = [];
  const refused: unknown[] = [];
  for (const { task, draw } of PUZZLES)
    for (const level of [0, 1])
      for (let k = 0; k < DRAWS; k++) {
        const { question, answer, metadata, solution } = draw(new CounterRandom(7, k, level), level);
        const game_data = { question, answer, difficulty: level, metadata };
        const reference = logic.parseReference({ task, game_data });
        const isLoose = ({ kind }: LogicStatement) => MANY.has(task) && kind !== "right";
        for (const one of logicStatements(solution, WHOLE.has(task), dice)) {
          if (isLoose(one)) continue;
          counts[one.kind] += 1;
          const { status } = await logic.verify({ text: one.text, finish: "stop" }, reference);
          if ((status === "correct") !== (one.kind === "right"))
            (one.kind === "right" ? refused : paid).push({ task, solution, ...one });
        }
      }
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(400);
  expect(paid).toEqual([]);
  expect(refused.length / counts.right, JSON.stringify(refused, null, 1)).toBeLessThanOrEqual(MOST_REFUSED);
}, 120_000);
