// Limits and ends of the processes that play Python environments. Deliberate faults (mutants) that these tests
// detect: a late call is not interrupted, a process that ended is used for new episodes, the limit runs while an
// episode waits for its turn.
import { afterEach, expect, test, vi } from "vitest";
import { closeEnvironments, environment, problem, said } from "../fixtures/python-environment.ts";

vi.setConfig({ testTimeout: 60_000 });
afterEach(closeEnvironments);

test("a call that takes too long ends its episode alone; the others of its process go on", async () => {
  const own = environment("Faulty", { limitMs: 300 });
  await own.about();
  const states = [await own.reset(problem), await own.reset(problem)];
  const late = own.step(states[0]!, said("hang"));
  const waits = own.step(states[1]!, said("ok")); // this call waits longer than its own limit
  await expect(late).rejects.toThrow("step took over 300 ms");
  expect(await waits).toEqual({ observation: "ok" });
  expect(await own.step(states[1]!, said("ok"))).toEqual({ observation: "ok" });
});
