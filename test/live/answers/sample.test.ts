import { expect, test } from "vitest";
import { sample } from "../../../lib/live/answers/sample.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { ConstructedRun } from "../../samples/constructed-run.ts";
import { smallRun } from "../live-run.ts";

test("one completion by its row; another row is refused", async () => {
  const dir = smallRun(1);
  {
    using run = new ConstructedRun(dir);
    run.step({ problem: 5, said: [{ text: "<think>t</think>one" }, { text: "two" }] });
  }
  const watch = new Watch([dir]);
  const ask = (row: string) => sample({ query: new URLSearchParams({ row }), watch });
  expect(await ask("0")).toMatchObject({
    attempt: 0,
    thought: "t",
    response: "one",
    prompt: "<bos>question 5",
  });
  expect(await ask("1")).toMatchObject({ attempt: 1, response: "two", reference: '{"answer":"7"}' });
  await expect(ask("2")).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
  expect(await sample({ query: new URLSearchParams(), watch: new Watch([smallRun(1)]) })).toBeNull();
});
