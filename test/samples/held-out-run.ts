import { join } from "node:path";
import { HeldOutRecord, type JudgedAnswer } from "../../lib/evaluation/index.ts";
import type { Problem, Verdict } from "../../lib/records.ts";

type Status = Verdict["status"];

const problem = (id: number): Problem => ({
  id,
  domain: "math",
  family: "rows",
  level: 0,
  question: `Question ${id}`,
  verifier: "math",
  reference: `${id}`,
});

const answer = (text: string, status: Status, attempt = 0): JudgedAnswer => ({
  attempt,
  text,
  finish: "eos",
  tokens: 4,
  verdict:
    status === "unscored"
      ? { status, cause: "lost" }
      : { status, score: Number(status === "correct"), reason: "so" },
});

const [R, W, U] = ["correct", "wrong", "unscored"] as const;
/** The verdicts on problems 1 to 5, two attempts each, before and after training. */
const VERDICTS: readonly (readonly [readonly Status[], readonly Status[]])[] = [
  [
    [W, W],
    [R, R],
  ],
  [
    [R, R],
    [R, W],
  ],
  [
    [W, W],
    [W, W],
  ],
  [
    [R, W],
    [W, R],
  ],
  [
    [R, W],
    [R, U],
  ],
];

/**
 * Writes a run's evaluations: before training, after step 5 with the same answers, after step 9. Problem 5 belongs to
 * a validation set.
 */
export function heldOutRun(dir: string): void {
  using record = new HeldOutRecord(join(dir, "held-out-completions.jsonl"));
  for (const [when, step] of [
    ["before", 0],
    ["validation", 5],
    ["after", 9],
  ] as const) {
    const one = record.begin({ when, step, version: step });
    for (const [i, verdicts] of VERDICTS.entries()) {
      const id = i + 1;
      const said = when === "after" ? "after" : "before";
      const answers = verdicts[when === "after" ? 1 : 0].map((status, attempt) =>
        answer(`${said} ${id}.${attempt}`, status, attempt),
      );
      one.note({ problem: problem(id), ...(id === 5 && { set: "extra" }) }, answers);
    }
    one.end();
  }
}
heldOutRun.problem = problem;
heldOutRun.answer = answer;
