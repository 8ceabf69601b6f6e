// Tests Python environments as an episode calls them. Deliberate faults (mutants) that these tests detect: all
// episodes share one process, a step without a reward gets 0, a score is not finite.
import { afterEach, expect, test, vi } from "vitest";
import { closeEnvironments, environment, problem, said } from "../fixtures/python-environment.ts";

vi.setConfig({ testTimeout: 60_000 });

afterEach(() => {
  closeEnvironments();
  vi.restoreAllMocks();
});

const call = { name: "take", arguments: { by: 1 } };

test("its methods get what they name, and an episode has an object of its own", async () => {
  const own = environment("");
  expect(await own.about()).toMatch(
    /^Env\.step\(answer, text, calls, malformed, turn\) of environments\.py, Python 3\.\d+\.\d+ at \//,
  );
  const [one, other] = [await own.reset(problem), await own.reset({ ...problem, id: 8 })];
  expect(await own.step(other, { ...said("b", 3), calls: [call], malformed: "?" })).toEqual({
    observation: "['q', {'a': 1}, 8, 'f', 2] b t b [{'name': 'take', 'arguments': {'by': 1}}] ? 3",
  });
  expect(await own.step(one, said("a"))).toEqual({
    observation: "['q', {'a': 1}, 7, 'f', 2] a t a [] None 0",
  });
  expect(await own.step(one, said("over"))).toEqual({ done: true });
  expect(await own.score(one, { finish: "eos", turns: 1 })).toBe(1);
  expect(await own.score(other, { finish: "turns", turns: 2 })).toBe(0.25);
});

test("Gymnasium's form is taken: five values, and the sum of rewards as the score", async () => {
  const gym = environment("Gym");
  const state = await gym.reset(problem);
  expect(await gym.step(state, said("2"))).toEqual({ observation: "sum 2" });
  expect(await gym.step(state, said("4"))).toEqual({ done: true });
  expect(await gym.score(state, { finish: "eos", turns: 2 })).toBe(6);
});

test("episodes are spread over processes; coroutines are awaited, and what is printed is shown", async () => {
  const shown = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const own = environment("Waits", { processes: 2 });
  const states = [await own.reset(problem), await own.reset(problem), await own.reset(problem)];
  const pids = await Promise.all(states.map((state) => own.step(state, said("x"))));
  expect(new Set(pids.map((one) => (one as { observation: string }).observation)).size).toBe(2);
  expect(await own.score(states[0]!, { finish: "turns", turns: 1 })).toBe(0.5);
  expect(shown.mock.calls.map(([text]) => text)).toContain("environments.py: seen x\n");
});

test.each([
  ["Faulty", "raise", /^ValueError: no such move \(environments\.py:\d+, in step\)$/],
  ["Faulty", "observation", /^step returned the observation int 1, not a text$/],
  [
    "Faulty",
    "text",
    /^step returned str 'a text', neither a dict with observation or done nor \(observation,/,
  ],
  ["Faulty", "none", /^step returned NoneType None, neither/],
  ["NoReward", "x", /^step gave no reward, and the environment has no score: its value is NoneType None/],
  ["Wants", "x", /^step asks for state, and a message has action, malformed, turn, text, answer, calls$/],
])("%s that answers %s wrongly is told with the cause", async (name, answer, message) => {
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const own = environment(name);
  const state = await own.reset(problem);
  await expect(own.step(state, said(answer))).rejects.toThrow(message);
});

test("a score that is no number has none; what cannot be played is told when it is loaded", async () => {
  const faulty = environment("Faulty");
  const state = await faulty.reset(problem);
  await expect(faulty.score(state, { finish: "eos", turns: 1 })).rejects.toThrow(
    "float nan, not a finite number",
  );
  await expect(environment("NoStep").reset(problem)).rejects.toThrow(
    /^it did not load: NoStep has no method step; Python 3/,
  );
  await expect(environment("Missing").about()).rejects.toThrow(/has no Missing; its classes are Env, Gym, /);
});

test("a call that heeds no interrupt, or ends Python, costs the process; new episodes have another", async () => {
  const own = environment("Faulty", { limitMs: 300 });
  await own.about();
  const spins = await own.reset(problem);
  await expect(own.step(spins, said("spin"))).rejects.toThrow("step took over 300 ms");
  const [exits, beside] = [await own.reset(problem), await own.reset(problem)];
  await expect(own.step(exits, said("exit"))).rejects.toThrow("the Python process ended (exit code 3)");
  await expect(own.step(beside, said("ok"))).rejects.toThrow("the Python process ended (exit code 3)");
  expect(await own.step(await own.reset(problem), said("ok"))).toEqual({ observation: "ok" });
});
