import { afterEach, expect, test } from "vitest";
import { type FleetSettings, STREAMS, VERIFIER_HOSTS } from "../../lib/fleet/names.ts";
import { VerifierPool } from "../../lib/rewards/index.ts";
import { jobOf, type LocalHosts, localHosts, said } from "./local-hosts.ts";
import { until } from "./small-engine.ts";

const open: LocalHosts[] = [];
afterEach(async () => {
  for (const local of open.splice(0)) await local.close();
});
async function opened(hosts: number, settings: Partial<FleetSettings> = {}): Promise<LocalHosts> {
  const local = await localHosts(hosts, settings);
  open.push(local);
  return local;
}
const question = (text: string) => ({
  problem: {
    id: 1,
    domain: "math",
    family: "f",
    level: 0,
    question: "1+1",
    verifier: "math",
    reference: "2",
  },
  text,
  finish: "eos" as const,
});

test("jobs come back whoever did them, each to who asked for it, and leave the store", async () => {
  const { judges, start, store } = await opened(2);
  for (const index of [0, 1]) start(index);
  const place = judges.place(2);
  expect(place.count).toBe(4);
  const jobs = Array.from({ length: 150 }, (_, i) => place.run(64, jobOf(`a${i}`, `b${i}`)));
  const ends = (await Promise.all(jobs)).map(said);
  expect(ends.map((end) => end.map((text) => text.split(": ")[1]))).toEqual(
    ends.map((_, i) => [`a${i}`, `b${i}`]),
  );
  expect(new Set(ends.map(([text]) => text!.split("#")[0])).size, "both had some").toBe(2);
  await until(async () => (await store.depth(STREAMS.jobEnds)).items < 64, "ends to leave the store");
  await until(async () => (await store.depth(STREAMS.jobs)).items < 64, "jobs to leave the store");
});

test("a host that joins has jobs beside the others: there are more at the same time", async () => {
  const { judges, start } = await opened(1);
  const place = judges.place(2);
  const first = start(0, 1, true);
  await using pool = new VerifierPool({ workers: 2, place });
  const verdicts = pool.verify([0, 1, 2, 3].map((i) => question(String(i))));
  expect([pool.workers, place.count]).toEqual([2, 2]);
  const joined = start(1, 1, true);
  await until(() => pool.workers === 4, "the membership to see it");
  joined.finish();
  first.finish();
  await verdicts;
});

test("two pools of one fleet do not get each other's verdicts, and one that closes ends its own jobs alone", async () => {
  const { judges, start } = await opened(1);
  const [first, second] = [judges.place(4), judges.place(4)];
  const ended = first.run(64, jobOf("first"));
  const other = second.run(64, jobOf("second"));
  await first.close();
  await expect(ended).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  await expect(first.run(64, jobOf("later"))).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  start(0);
  expect(said(await other)).toEqual(["verifier.0#1: second"]);
});

test("completions that ended several hosts have no verdict: they are unscored, and never wrong", async () => {
  const { judges, start, store } = await opened(1);
  const place = judges.place(1);
  const asked = place.run(64, jobOf("2", "3"));
  for (let i = 0; i < 5; i++) {
    const take = { max: 1, leaseMs: 0, waitMs: 5000 };
    expect(await store.lease(STREAMS.jobs, VERIFIER_HOSTS, take)).toHaveLength(1);
  }
  const host = start(0);
  const end = await asked;
  expect(end).toEqual({
    kind: "lost",
    phase: "idle",
    elapsedMs: 0,
    cause: "5 verifier hosts ended while they judged this completion",
  });
  expect(host.running).toEqual([]);
  await using pool = new VerifierPool({ place: { ...place, run: async () => end } });
  const unscored = {
    status: "unscored",
    cause: "worker lost: 5 verifier hosts ended while they judged this completion",
  };
  expect(await pool.verify([question("2"), question("3")])).toEqual([unscored, unscored]);
  expect(pool.stats()["math"]).toMatchObject({ retries: 2, unscored: 2, correct: 0 });
});

test("an end that cannot be read is a loss of ours", async () => {
  const { judges, store } = await opened(1);
  const asked = judges.place(1).run(64, jobOf("2"));
  await store.append(STREAMS.jobEnds, "0", Uint8Array.of(1, 2, 3));
  expect(await asked).toMatchObject({
    kind: "lost",
    phase: "idle",
    cause: expect.stringContaining("message"),
  });
});

test("where no host is alive for too long, what waits ends by name, and what comes later too", async () => {
  const { judges } = await opened(1, { gatherMs: 100 });
  const place = judges.place(1);
  const refusal = { code: "HONE_ERR_COLLECTIVE", message: expect.stringContaining("no verifier host") };
  await expect(place.run(64, jobOf("2"))).rejects.toMatchObject(refusal);
  await expect(place.run(64, jobOf("3"))).rejects.toMatchObject(refusal);
});

test("a reference that cannot be sent is refused before anything is asked", async () => {
  const { judges, store } = await opened(1);
  const job = { ...jobOf("2"), members: [{ reference: new Set(), text: "2", finish: "eos" as const }] };
  await expect(judges.place(1).run(64, job)).rejects.toMatchObject({ code: "HONE_ERR_UNSUPPORTED" });
  expect((await store.depth(STREAMS.jobs)).items).toBe(0);
});
