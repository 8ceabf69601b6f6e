import { afterEach, expect, test, vi } from "vitest";
import type { VerificationJob } from "../../../lib/rewards/pool/verification-job.ts";
import { WorkerGroups } from "../../../lib/rewards/pool/worker-groups.ts";

vi.setConfig({ testTimeout: 120_000 });

const obedient = new URL("../../fixtures/verifiers/obedient.mjs", import.meta.url).href;
const job = (text: string): VerificationJob => ({
  verifier: "obedient",
  moduleUrl: obedient,
  members: [{ reference: "ok", text, finish: "eos" }],
  timeoutMs: 25_000,
  loadTimeoutMs: 60_000,
});

let open: WorkerGroups;
afterEach(() => open.close());

test("each limit of the heap has processes of its own, and a closed place takes nothing", async () => {
  open = new WorkerGroups(1);
  expect(open.pids()).toEqual([]);
  const ends = await Promise.all([open.run(48, job("ok")), open.run(64, job("ok")), open.run(48, job("ok"))]);
  expect(ends.map(({ kind }) => kind)).toEqual(["done", "done", "done"]);
  expect(open.pids()).toHaveLength(2);
  await open.close();
  expect(open.pids()).toEqual([]);
  await expect(open.run(48, job("ok"))).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
  await expect(open.run(96, job("ok"))).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
});
