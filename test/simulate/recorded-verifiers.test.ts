import { join } from "node:path";
import { expect, test } from "vitest";
import { verifiersOf } from "../../lib/simulate/recorded-verifiers.ts";
import { recordedRun } from "./recorded-run.ts";

test("each domain's verifier; none where no journal was kept", async () => {
  const dir = recordedRun(5);
  expect(await verifiersOf(join(dir, "verdicts.jsonl"))).toEqual(
    new Map([
      ["math", "rule"],
      ["code", "rule"],
    ]),
  );
  expect(await verifiersOf(join(dir, "none.jsonl"))).toEqual(new Map());
});
