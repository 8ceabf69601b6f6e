import { expect, test, vi } from "vitest";
import { expectWithAgents, FaultInjector, readFaults, spellFault } from "../../lib/fleet/faults.ts";

test("faults are read as they are written", () => {
  expect(readFaults("actor.1@step=3:sigkill, trainer.0@t=2s:sigstop=500ms,actor.0@t=250ms:sigterm")).toEqual([
    { role: "actor", rank: 1, at: { step: 3 }, signal: "SIGKILL" },
    { role: "trainer", rank: 0, at: { ms: 2000 }, signal: "SIGSTOP", stopMs: 500 },
    { role: "actor", rank: 0, at: { ms: 250 }, signal: "SIGTERM" },
  ]);
  expect(
    readFaults("verifier@t=1s:sigkill,verifier.2@step=4:sigstop,redis@t=2s:restart,redis@step=1:restart=3s"),
  ).toEqual([
    { role: "verifier", rank: 0, at: { ms: 1000 }, signal: "SIGKILL" },
    { role: "verifier", rank: 2, at: { step: 4 }, signal: "SIGSTOP" },
    { role: "redis", at: { ms: 2000 }, stopMs: 0 },
    { role: "redis", at: { step: 1 }, stopMs: 3000 },
  ]);
  expect(readFaults("")).toEqual([]);
});

test.each([
  "actor@step=3:sigkill",
  "actor.1@step=3",
  "judge.1@t=1s:sigkill",
  "actor.1@t=1:sigkill",
  "actor.1@t=1s:sigkill=1s",
  "redis@t=1s:sigkill",
  "redis.0@t=1s:restart",
  "actor.0@t=1s:restart",
])("%s is refused by name", (text) => {
  expect(() => readFaults(`actor.0@step=1:sigkill,${text}`)).toThrow(`"${text}" is no fault`);
});

test("each is injected once: at its step or later, or after its time, and what was stopped goes on", async () => {
  vi.useFakeTimers();
  try {
    const told: string[] = [];
    const kill = (role: string, rank: number, signal = "SIGKILL") =>
      told.push(`${role}.${rank} ${signal}`) > 0;
    const faults = readFaults("actor.1@step=3:sigkill,actor.0@t=2s:sigstop=500ms,redis@t=3s:restart=1s");
    const restart = (stopMs: number) => told.push(`redis ${stopMs}`) > 0;
    const injector = new FaultInjector(faults, { kill, restart });
    injector.begin();
    injector.published(2);
    expect(told).toEqual([]);
    injector.published(4);
    injector.published(5);
    expect(told).toEqual(["actor.1 SIGKILL"]);
    vi.advanceTimersByTime(2000);
    expect(told.at(-1)).toBe("actor.0 SIGSTOP");
    vi.advanceTimersByTime(500);
    expect(told).toEqual(["actor.1 SIGKILL", "actor.0 SIGSTOP", "actor.0 SIGCONT"]);
    vi.advanceTimersByTime(500);
    expect(told.at(-1)).toBe("redis 1000");
    await injector.close();
    expect(injector.struck).toBe(3);
  } finally {
    vi.useRealTimers();
  }
});

test("those whose time did not come, and those that met nobody, are told", async () => {
  const faults = readFaults("actor.0@step=1:sigkill,actor.1@step=2:sigkill,trainer.0@step=9:sigterm");
  const injector = new FaultInjector(faults, { kill: (_, rank) => rank === 0, restart: () => true });
  injector.published(2);
  await injector.close();
  expect([injector.struck, injector.unmet]).toEqual([
    1,
    [
      "trainer.0@step=9:sigterm did not happen: the run ended before",
      "actor.1@step=2:sigkill found no process: there was none of that name at that time",
    ],
  ]);
});

test("what processes elsewhere say of a fault is waited for, and one that cannot be asked for met nobody", async () => {
  const faults = readFaults("actor.0@step=1:sigkill,actor.1@step=1:sigkill,actor.2@step=1:sigkill");
  let answer = (_: boolean) => {};
  const answered = new Promise<boolean>((resolve) => {
    answer = resolve;
  });
  const kill = async (_: string, rank: number) => {
    if (rank === 2) throw new Error("the store is gone");
    return rank === 0 && (await answered);
  };
  const injector = new FaultInjector(faults, { kill, restart: () => true });
  injector.published(1);
  setImmediate(answer, true);
  await injector.close();
  expect(injector.struck).toBe(1);
  expect(injector.unmet.map((text) => text.split("@")[0])).toEqual(["actor.1", "actor.2"]);
});

test.each([
  [
    "redis@t=4s:restart=1s",
    "HONE_ERR_UNSUPPORTED",
    "redis@t=4000ms:restart=1000ms restarts the Redis server, which is no agent's",
  ],
  ["actor.2@step=1:sigkill", "HONE_ERR_USAGE", "a fault of actor.2, and the run has 2 of that role"],
])("%s is refused for a run of agents", (text, code, message) => {
  const refused = () => expectWithAgents(readFaults(text), { actors: 2, trainers: 1 });
  expect(refused).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
  expectWithAgents(readFaults("actor.1@step=1:sigkill,verifier.7@t=1s:sigkill"), { actors: 2, trainers: 1 });
});

test("a fault that is spelled and read again is the same", () => {
  const faults = readFaults(
    "actor.1@step=3:sigkill,trainer.0@t=2s:sigstop=500ms,verifier@t=1s:sigterm,redis@t=2s:restart",
  );
  expect(readFaults(faults.map(spellFault).join())).toEqual(faults);
});
