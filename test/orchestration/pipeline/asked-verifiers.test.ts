import { expect, test } from "vitest";
import { AskedVerifiers, verifierStatuses } from "../../../lib/orchestration/pipeline/asked-verifiers.ts";
import type { Problem, Verdict } from "../../../lib/records.ts";
import { deferred } from "../../../lib/shared/async/deferred.ts";

const request = (verifier: string) => ({
  problem: { verifier } as Problem,
  text: "",
  finish: "stop" as const,
});

test("knows what is out, since when, until the verdicts are there or the call has failed", async () => {
  let now = 0;
  const calls: ReturnType<typeof deferred<Verdict[]>>[] = [];
  const inner = {
    verify: () => {
      calls.push(deferred<Verdict[]>());
      return calls.at(-1)!.promise;
    },
    stats: () => ({}),
  };
  const verifiers = new AskedVerifiers(inner, { now: () => now });
  const first = verifiers.verify([request("code"), request("code"), request("math")]);
  now = 3000;
  const second = verifiers.verify([request("code")]);
  now = 5000;
  expect(verifiers.asked).toEqual(
    new Map([
      ["code", { out: 3, oldestMs: 5000 }],
      ["math", { out: 1, oldestMs: 5000 }],
    ]),
  );
  expect(verifierStatuses(verifiers).map(({ name, out, calls }) => [name, out, calls])).toEqual([
    ["code", 3, 0],
    ["math", 1, 0],
  ]);
  const verdicts: Verdict[] = [];
  calls[0]!.resolve(verdicts);
  expect(await first).toBe(verdicts);
  expect(verifiers.asked).toEqual(new Map([["code", { out: 1, oldestMs: 2000 }]]));
  calls[1]!.reject(new Error("lost"));
  await expect(second).rejects.toThrow("lost");
  expect(verifiers.asked.size).toBe(0);
});
