// Deliberate faults (mutants) that these tests detect: only the first test runs; the answer is searched in the
// printed output; the first fenced block is taken.
import { expect, test } from "vitest";
import { code } from "../../lib/domains/code/verify.ts";
import { sandboxChoice } from "../../lib/sandbox/index.ts";
import { codeStatements } from "../fixtures/code-statements.ts";
import { Dice } from "../fixtures/math-dice.ts";
import { longest } from "../long.ts";

/** Seven rounds draw over 400 programs; `npm test` has time for one round. */
const ROUNDS = longest ? 7 : 1;
const AT_ONCE = 4;
/** The share of right programs that may be refused. */
const MOST_REFUSED = 0.02;

/** The slower sandboxes need minutes for this and have their own tests. */
const runsPrograms = (await sandboxChoice()).sandbox?.name === "bubblewrap";

test.skipIf(!runsPrograms)(
  `strict accepts right programs, and none that is off by one or tries something else: ${ROUNDS} draws`,
  async () => {
    const all = codeStatements(new Dice(20_261_128), ROUNDS);
    expect(all.length).toBeGreaterThan(60 * ROUNDS);
    const verdicts: string[] = [];
    const judge = async (worker: number) => {
      for (let i = worker; i < all.length; i += AT_ONCE) {
        const { text, reference } = all[i]!;
        verdicts[i] = (await code.verify({ text, finish: "stop" }, code.parseReference(reference))).status;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, worker) => judge(worker)));
    const paid = all.filter(({ kind }, i) => kind !== "right" && verdicts[i] === "correct");
    expect(paid).toEqual([]);
    const right = all.filter(({ kind }) => kind === "right");
    const refused = all.filter(({ kind }, i) => kind === "right" && verdicts[i] !== "correct");
    expect(refused.length / right.length, JSON.stringify(refused, null, 1)).toBeLessThanOrEqual(MOST_REFUSED);
  },
  180_000,
);
