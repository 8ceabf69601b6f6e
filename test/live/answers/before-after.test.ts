import { expect, test } from "vitest";
import { beforeAfter } from "../../../lib/live/answers/before-after.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { heldOutRun } from "../../samples/held-out-run.ts";
import { smallRun } from "../live-run.ts";

test("held-out problems by kind, with texts of a length that is asked; null where none are kept", async () => {
  const dir = smallRun(1);
  const watch = new Watch([dir]);
  const ask = (text: string) => beforeAfter({ query: new URLSearchParams(text), watch });
  expect(await ask("run=0")).toBeNull();
  heldOutRun(dir);
  const answer = (await ask("run=0&kind=gained&domain=&at=&offset=0&limit=5&chars=4"))!;
  expect(answer).toMatchObject({ total: 2, counts: { gained: 2, lost: 1, wrong: 1, same: 1 } });
  expect(answer.problems[0]!.before[0]!.text).toBe("be\n[... 6 characters ...]\n.0");
  expect((await ask("at=5"))!.after.step).toBe(5);
  await expect(ask("kind=odd")).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});
