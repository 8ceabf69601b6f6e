import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { beginFaults } from "../../lib/fleet/agent-faults.ts";
import { readFaults } from "../../lib/fleet/faults.ts";
import type { ReadyProcess } from "../../lib/fleet/membership.ts";
import { STREAMS } from "../../lib/fleet/names.ts";
import { deliverSignals } from "../../lib/fleet/remote-signals.ts";
import { openStore } from "../../lib/streams/index.ts";

/** A coordinator with faults, the processes that it sees, and what it says. */
async function coordinator(text: string, roles: { actors: number; trainers: number; verifiers?: number }) {
  const store = await openStore("memory:", { run: "test" });
  const there: ReadyProcess[] = [];
  const fleet = { updates: { onPublished: (_: number) => {} }, readyProcesses: async () => there };
  const pool = { verifiers: (): readonly number[] => [] };
  const said: string[] = [];
  const options = { ...roles, faults: readFaults(text), pool, say: (line: string) => said.push(line) };
  const faults = beginFaults(options, fleet, store);
  onTestFinished(async () => {
    await faults.close();
    await store.close();
  });
  return { store, there, fleet, pool, said, faults };
}

const attendant = (role: ReadyProcess["role"], rank: number): ReadyProcess => ({
  role,
  rank,
  epoch: 1,
  host: "here",
  pid: 1,
});

test("a fault of the run's own pool meets the process of that number here, which no agent has", async () => {
  const text = "verifier.1@step=1:sigkill,verifier.2@step=1:sigkill,verifier@step=2:sigkill";
  const { fleet, pool, said, faults } = await coordinator(text, { actors: 1, trainers: 0 });
  const [first, second] = [0, 1].map(() => spawn("sleep", ["60"]));
  pool.verifiers = () => [first!.pid!, second!.pid!];
  const killed = once(second!, "exit");
  fleet.updates.onPublished(1);
  expect(await killed).toEqual([null, "SIGKILL"]);
  await faults.close();
  expect(first!.kill()).toBe(true);
  expect(said).toEqual([
    "HONE_FAULTS: verifier.0@step=2:sigkill did not happen: the run ended before",
    "HONE_FAULTS: verifier.2@step=1:sigkill found no process: there was none of that name at that time",
  ]);
});

test("times count from when every process of every node is there; the one whose it is signals it", async () => {
  const roles = { actors: 1, trainers: 1, verifiers: 1 };
  const { store, there, said, faults } = await coordinator("verifier@t=0s:sigterm", roles);
  const gone = new AbortController();
  onTestFinished(() => gone.abort());
  there.push(attendant("actor", 0), attendant("trainer", 0));
  const asked = store.read(STREAMS.signals, 0, { max: 1, waitMs: 500 });
  expect(await asked, "its host is missing").toEqual([]);
  const met = new Promise<unknown>((resolve) => {
    const kill = (...words: unknown[]) => resolve(words) === undefined;
    void deliverSignals(store, new Set(["verifier.0"]), kill, gone.signal);
  });
  there.push(attendant("verifier", 0));
  expect(await met).toEqual(["verifier", 0, "SIGTERM"]);
  await faults.close();
  expect(said).toEqual([]);
});

test("a run that ends before all are there says what did not happen, and nothing happens later", async () => {
  const { store, there, said, faults } = await coordinator("actor.0@t=0s:sigkill", {
    actors: 1,
    trainers: 0,
  });
  await faults.close();
  expect(said).toEqual(["HONE_FAULTS: actor.0@t=0ms:sigkill did not happen: the run ended before"]);
  there.push(attendant("actor", 0));
  expect(await store.read(STREAMS.signals, 0, { max: 1, waitMs: 500 })).toEqual([]);
});
