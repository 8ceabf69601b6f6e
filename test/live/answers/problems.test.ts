import { expect, test } from "vitest";
import { problem, problems } from "../../../lib/live/answers/problems.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { problems as problemsOf, SampleIndex, takings } from "../../../lib/samples/index.ts";
import { ConstructedRun } from "../../samples/constructed-run.ts";
import { smallRun } from "../live-run.ts";

test("problems of a kind, and one over time, as the index has them", async () => {
  const dir = smallRun(1);
  {
    using run = new ConstructedRun(dir);
    for (let s = 0; s < 3; s++)
      run.step(
        { problem: 1, said: [{ text: `${s}`, status: "correct" }] },
        { problem: 2, said: [{ text: `${s}` }] },
      );
  }
  const watch = new Watch([dir]);
  const index = await SampleIndex.open(dir);
  const ask = (text: string) => ({ query: new URLSearchParams(text), watch });
  expect(await problems(ask(""))).toEqual(await problemsOf(index));
  expect(await problems(ask("kind=never&order=most&limit=1"))).toEqual(
    await problemsOf(index, { kind: "never", order: "most", limit: 1 }),
  );
  expect((await problems(ask("domain=code")))!.total).toBe(0);
  expect(await problem(ask("domain=math&problem=2"))).toEqual({ takings: takings(index, "math", 2) });
  await expect(problems(ask("kind=odd"))).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
  const none = { query: new URLSearchParams(), watch: new Watch([smallRun(1)]) };
  expect([await problems(none), await problem(none)]).toEqual([null, null]);
});
