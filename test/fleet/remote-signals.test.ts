import { expect, onTestFinished, test } from "vitest";
import { STREAMS } from "../../lib/fleet/names.ts";
import { deliverSignals, RemoteSignals } from "../../lib/fleet/remote-signals.ts";
import { openStore, type StreamStore } from "../../lib/streams/index.ts";

/** A node that does what it is asked of its places. @param there those of them that have a process. @returns what it did */
function node(store: StreamStore, places: readonly string[], there = places) {
  const done: string[] = [];
  const gone = new AbortController();
  const kill = (role: string, rank: number, signal: NodeJS.Signals) => {
    done.push(`${role}.${rank} ${signal}`);
    return there.includes(`${role}.${rank}`);
  };
  const doing = deliverSignals(store, new Set(places), kill, gone.signal);
  const leave = async () => {
    gone.abort();
    await doing;
  };
  onTestFinished(leave);
  return { done, leave };
}

const open = async () => {
  const store = await openStore("memory:", { run: "test" });
  onTestFinished(() => store.close());
  return store;
};

test("a signal meets the process of that rank, on whichever node it is, and no other", async () => {
  const store = await open();
  const [first, second] = [node(store, ["actor.0", "trainer.0"]), node(store, ["actor.1", "verifier.0"])];
  const asked = new RemoteSignals(store);
  expect(await asked.kill("actor", 1, "SIGSTOP")).toBe(true);
  expect(await asked.kill("trainer", 0, "SIGKILL")).toBe(true);
  expect(await asked.kill("actor", 1, "SIGCONT")).toBe(true);
  expect(first.done).toEqual(["trainer.0 SIGKILL"]);
  expect(second.done).toEqual(["actor.1 SIGSTOP", "actor.1 SIGCONT"]);
});

test("a place without a process is told, and so is one of no node", async () => {
  const store = await open();
  const empty = node(store, ["actor.0"], []);
  expect(await new RemoteSignals(store).kill("actor", 0, "SIGKILL")).toBe(false);
  expect(empty.done).toEqual(["actor.0 SIGKILL"]);
  expect(await new RemoteSignals(store, 10).kill("actor", 7, "SIGKILL")).toBe(false);
});

test("what an agent did, or what was said to have met nobody, the next agent of that node does not do", async () => {
  const store = await open();
  const early = node(store, ["actor.0"]);
  const inTime = await new RemoteSignals(store).kill("actor", 0, "SIGTERM");
  await early.leave();
  const late = await new RemoteSignals(store, 10).kill("actor", 0, "SIGKILL");
  const again = node(store, ["actor.0"]);
  await store.append(
    STREAMS.signals,
    "last",
    Buffer.from(JSON.stringify({ role: "actor", rank: 0, signal: "SIGHUP" })),
  );
  while (again.done.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect([inTime, late, early.done, again.done]).toEqual([
    true,
    false,
    ["actor.0 SIGTERM"],
    ["actor.0 SIGHUP"],
  ]);
});
