import { expect, test } from "vitest";
import { OutputRelay } from "../../../lib/rewards/python/output-relay.ts";

function relayed(): { readonly relay: OutputRelay; readonly printed: string[] } {
  const printed: string[] = [];
  return { relay: new OutputRelay("rewards.py", (text) => void printed.push(text)), printed };
}

test("each line has the file's name, however it comes; the last one that is not blank is kept", () => {
  const { relay, printed } = relayed();
  for (const text of ["one\ntw", "o\n", "\n", "half"]) relay.add(text);
  expect(printed).toEqual(["rewards.py: one\n", "rewards.py: two\n", "rewards.py: \n"]);
  expect(relay.lastLine).toBe("two");
  relay.end();
  expect([printed.at(-1), relay.lastLine]).toEqual(["rewards.py: half\n", "half"]);
});

test("one call shows 64 KiB and says that the rest is left out; the next one shows as much again", () => {
  const { relay, printed } = relayed();
  for (let i = 0; i < 1000; i++) relay.add(`${"x".repeat(999)}\n`);
  expect(printed).toHaveLength(67); // 66 × 1,000 characters exceed 65,536
  expect(printed.at(-1)).toContain("the rest that this call prints is left out");
  relay.add("unseen\n");
  expect(relay.lastLine).toBe("unseen");
  relay.begin();
  relay.add("seen\n");
  expect(printed.at(-1)).toBe("rewards.py: seen\n");
});

test("a line without an end is passed on in parts and does not fill the memory", () => {
  const { relay, printed } = relayed();
  for (let i = 0; i < 5; i++) relay.add("y".repeat(1000));
  expect(printed).toEqual([`rewards.py: ${"y".repeat(5000)}\n`]);
});
