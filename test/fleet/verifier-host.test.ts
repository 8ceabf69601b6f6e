import { afterEach, expect, test } from "vitest";
import { decodeEnd } from "../../lib/fleet/messages.ts";
import { REGISTERS, STREAMS, VERIFIER_HOSTS } from "../../lib/fleet/names.ts";
import { jobOf, type LocalHosts, localHosts, said } from "./local-hosts.ts";
import { until } from "./small-engine.ts";

const open: LocalHosts[] = [];
afterEach(async () => {
  for (const local of open.splice(0)) await local.close();
});
async function opened(...args: Parameters<typeof localHosts>): Promise<LocalHosts> {
  const local = await localHosts(...args);
  open.push(local);
  return local;
}

test("no more is leased than there are workers: what waits, waits where every host may get it", async () => {
  const { judges, start, store } = await opened(1);
  const place = judges.place(2);
  const asked = ["a", "b", "c"].map((text) => place.run(64, jobOf(text)));
  const host = start(0, 1, true);
  await until(() => host.running.length === 2, "as many as workers");
  await until(
    async () => (await store.kv.get(REGISTERS.status("verifier.0")))!.includes('"jobs":2'),
    "its word",
  );
  expect(host.running).toHaveLength(2);
  const [left, ...more] = await store.lease(STREAMS.jobs, VERIFIER_HOSTS, {
    max: 9,
    leaseMs: 1000,
    waitMs: 0,
  });
  expect([left!.key, more]).toEqual(["2", []]);
  await store.release(left!, "retry");
  host.finish();
  expect((await Promise.all(asked)).flatMap(said)).toEqual(["a", "b", "c"].map((t) => `verifier.0#1: ${t}`));
});

test("what a host held when it left goes to another, and its own verdict is said to nobody", async () => {
  const { judges, start, store } = await opened(2);
  const asked = judges.place(1).run(64, jobOf("a"));
  const first = start(0, 1, true);
  await until(() => first.running.length === 1, "the first to have it");
  first.stop.abort();
  await first.ended;
  start(1);
  expect(said(await asked)).toEqual(["verifier.1#1: a"]);
  first.finish();
  await new Promise((resolve) => setTimeout(resolve, 20));
  const ends = await store.read(STREAMS.jobEnds, 0, { max: 9, waitMs: 0 });
  expect(ends.map(({ payload }) => decodeEnd(payload).by)).toEqual(["verifier.1#1"]);
});

test("a job that is leased while its host leaves goes back at once", async () => {
  const { judges, start, store } = await opened(2);
  const lease = store.lease.bind(store);
  let leaves: (() => void) | undefined;
  store.lease = async (...args) => {
    const leases = await lease(...args);
    if (leases.length > 0) leaves?.();
    return leases;
  };
  const first = start(0, 1, true);
  leaves = () => first.stop.abort();
  const asked = judges.place(1).run(64, jobOf("a"));
  await first.ended;
  leaves = undefined;
  const [back] = await lease(STREAMS.jobs, VERIFIER_HOSTS, { max: 1, leaseMs: 1000, waitMs: 0 });
  expect(back).toMatchObject({ key: "0", deliveries: 1, isAgain: true });
  await store.release(back!, "retry");
  start(1);
  expect(said(await asked)).toEqual(["verifier.1#1: a"]);
});

test("a host that was silent for so long that its lease went on says nothing of it when it wakes", async () => {
  const { judges, start, store } = await opened(2);
  const asked = judges.place(1).run(64, jobOf("a"));
  const first = start(0, 1, true);
  await until(() => first.running.length === 1, "the first to have it");
  const renew = store.renew.bind(store);
  store.renew = async (lease, ms) => (lease.deliveries === 1 ? true : renew(lease, ms)); // as if the process had been stopped
  start(1);
  expect(said(await asked)).toEqual(["verifier.1#1: a"]);
  first.finish();
  await until(() => first.running.length === 0, "the late verdict");
  await new Promise((resolve) => setTimeout(resolve, 20));
  const ends = await store.read(STREAMS.jobEnds, 0, { max: 9, waitMs: 0 });
  expect(ends.map(({ payload }) => decodeEnd(payload).by)).toEqual(["verifier.1#1"]);
});

test("a host whose place was taken ends", async () => {
  const { start, store } = await opened(1);
  const host = start(0);
  await until(async () => (await store.kv.get(REGISTERS.beat("verifier.0"))) !== undefined, "its beat");
  await store.kv.delete(REGISTERS.beat("verifier.0"));
  await store.kv.setLease(REGISTERS.beat("verifier.0"), "verifier.0#2", 10_000);
  await expect(host.ended).rejects.toMatchObject({
    code: "HONE_ERR_STATE",
    message: expect.stringContaining("verifier.0#1: this process sent no heartbeat"),
  });
});

test("a job that cannot be read ends as a loss that says why, so that nobody waits for it", async () => {
  const { start, store } = await opened(1);
  await store.append(STREAMS.jobs, "5", Uint8Array.of(1, 2, 3));
  start(0);
  const [entry] = await store.read(STREAMS.jobEnds, 0, { max: 1, waitMs: 5000 });
  expect(decodeEnd(entry!.payload)).toMatchObject({
    number: 5,
    end: { kind: "lost", phase: "idle", cause: expect.stringContaining("not a valid message") },
  });
});
