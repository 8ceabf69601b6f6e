import { expect, test } from "vitest";
import { hints } from "../../../lib/live/answers/hints.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { boxed, ConstructedRun } from "../../samples/constructed-run.ts";
import { smallRun } from "../live-run.ts";

test("hints with their samples; what the policy wrote is spelled, and a look serves for a while", async () => {
  const dir = smallRun(1);
  using run = new ConstructedRun(dir);
  for (let s = 0; s < 8; s++)
    run.step(
      ...Array.from({ length: 10 }, (_, p) => ({
        problem: p,
        reference: p,
        said: [{ text: boxed("\u202e42", `thought ${s} ${p}`) }],
      })),
    );
  const question = { query: new URLSearchParams(), watch: new Watch([dir]) };
  const found = (await hints(question))!;
  expect(found).toMatchObject([
    { kind: "one-answer", quotes: [["answer", "\\u202e42"]], evidence: { share: 1 } },
  ]);
  expect(found[0]!.samples.map(({ step }) => step)).toEqual([8, 8, 8, 8, 8]);
  run.step({ said: [{ text: "another" }] });
  expect(await hints(question)).toEqual(found);
  expect(await hints({ query: new URLSearchParams(), watch: new Watch([smallRun(1)]) })).toBeNull();
});
