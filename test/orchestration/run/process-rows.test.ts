import { expect, test } from "vitest";
import { EndedProcesses, processRows } from "../../../lib/orchestration/run/process-rows.ts";

const base = { phase: "training", version: { trainer: 4, engine: 3 }, tokensPerSecond: 90, training: true };
const verify = async () => [];
const verifiers = { verify, stats: () => ({}), pids: () => [41, 42] };

test("one process does it all, and its verifiers' processes are listed", () => {
  expect(processRows({ ...base, others: undefined, verifiers })).toMatchObject([
    { name: "run", pid: process.pid, version: 4, lag: 1, tokensPerSecond: 90, doing: "trains" },
    { name: "verifier.0", pid: 41, pooled: true },
    { name: "verifier.1", pid: 42, pooled: true },
  ]);
  const rows = processRows({
    ...base,
    phase: "warm start",
    others: undefined,
    verifiers: { verify, stats: () => ({}) },
  });
  expect(rows).toMatchObject([{ name: "run", doing: "warm start" }]);
});

test("of several, the trainer has the trainer's version, and the run decides", () => {
  const row = { state: "alive" as const, restarts: 0, doing: "" };
  const list = [
    { ...row, name: "actor.0", version: 3 },
    { ...row, name: "trainer.0" },
    { ...row, name: "trainer.1", state: "gone" as const, doing: "is started again" },
  ];
  const rows = processRows({
    ...base,
    training: false,
    others: { list },
    verifiers: { verify, stats: () => ({}) },
  });
  expect(rows).toMatchObject([
    { name: "run", doing: "decides" },
    { name: "actor.0", version: 3 },
    { name: "trainer.0", version: 4, doing: "waits for a batch" },
    { name: "trainer.1", state: "gone", doing: "is started again" },
  ]);
  expect(rows[0]).not.toHaveProperty("tokensPerSecond");
});

test("each end is told once, with the last line that was said", () => {
  const ends = new EndedProcesses();
  const row = (atMs: number, words: string) => [
    {
      name: "actor.1",
      state: "gone" as const,
      restarts: 1,
      doing: "",
      ended: { atMs, how: "by SIGKILL", words },
    },
  ];
  expect(ends.of(row(1, ""))).toEqual(["actor.1 ended by SIGKILL"]);
  expect(ends.of(row(1, ""))).toEqual([]);
  expect(ends.of(row(2, "a\nHONE_ERR_IO  b\n"))).toEqual([
    "actor.1 ended by SIGKILL; it printed last: HONE_ERR_IO  b",
  ]);
});

test("an agent's process that was started again is told once a time", () => {
  const ends = new EndedProcesses();
  const row = (restarts: number) => [{ name: "actor.1", state: "alive" as const, restarts, doing: "" }];
  expect([0, 1, 1, 2].map((restarts) => ends.of(row(restarts)))).toEqual([
    [],
    ["actor.1 was started again by its agent"],
    [],
    ["actor.1 was started again by its agent"],
  ]);
});
