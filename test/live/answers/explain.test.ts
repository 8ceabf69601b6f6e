import { afterAll, expect, test } from "vitest";
import { explainStep } from "../../../lib/explain/index.ts";
import { explain } from "../../../lib/live/answers/explain.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { noAddon } from "../../e2e/native-core.ts";
import { record, removeFolders, STEPS, trainedAttempt } from "../../explain/recording.ts";
import { smallRun } from "../live-run.ts";

afterAll(removeFolders);

const question = (dir: string, query: string) => ({
  query: new URLSearchParams(query),
  watch: new Watch([dir]),
});

test.skipIf(noAddon !== undefined)(
  "is what hone explain says, also after a question that failed",
  async () => {
    const run = await record({});
    const { dir } = run;
    const asked = await trainedAttempt(run, STEPS);
    const of = (step: number) =>
      explain(
        question(
          dir,
          `step=${step}&problem=${asked.problem}&attempt=${asked.attempt}&set=objective.kind=cispo`,
        ),
      );
    const bad = expect(of(99)).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
    expect(await of(STEPS)).toEqual(await explainStep(dir, { ...asked, set: ["objective.kind=cispo"] }));
    await bad;
    const one = await explain(
      question(
        dir,
        `step=${STEPS}&problem=${asked.problem}&attempt=${asked.attempt}&position=1&gradient=1&set=objective.kind=cispo`,
      ),
    );
    const same = { ...asked, token: 1, gradient: true, set: ["objective.kind=cispo"] };
    expect(one).toEqual(await explainStep(dir, same));
    expect(one.settings[0]!.gradient!.token!.norm).toBeGreaterThan(0);
  },
);

test("what is no number is refused before anything is computed", () => {
  const dir = smallRun(1);
  for (const query of [
    "step=1&problem=2",
    "step=1&problem=2&attempt=-1",
    "step=x&problem=2&attempt=1",
    "step=1&problem=2&attempt=1&position=",
  ])
    expect(() => explain(question(dir, query))).toThrow("a whole number is needed");
});
