import { expect, test } from "vitest";
import { groups } from "../../../lib/live/answers/groups.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { ConstructedRun } from "../../samples/constructed-run.ts";
import { smallRun } from "../live-run.ts";

test("groups by the conditions of the address, null without completions, refused for what is no range", async () => {
  const dir = smallRun(2);
  const ask = (query: string) =>
    groups({ query: new URLSearchParams(`run=0&${query}`), watch: new Watch([dir]) });
  expect(await ask("")).toBeNull();
  {
    using run = new ConstructedRun(dir);
    run.step({ problem: 1, said: [{ text: "a" }] }, { problem: 2, said: [{ text: "b", status: "correct" }] });
  }
  expect(await ask("status=correct")).toMatchObject({
    total: 1,
    samples: 1,
    groups: [{ solved: 1, judged: 1 }],
  });
  expect((await ask("limit=1&order=oldest"))!.groups).toHaveLength(1);
  await expect(ask("steps=x")).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});
