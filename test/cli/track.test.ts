import { mkdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { sendWaiting, trackerDemands, trackerRows } from "../../lib/cli/track.ts";
import { writeRunManifest } from "../../lib/metrics/index.ts";
import { lockFolder } from "../../lib/shared/files/folder-lock.ts";
import { beginSession, Delivery, type Tracker } from "../../lib/trackers/index.ts";
import { Trust } from "../../lib/trust.ts";
import { NO_DETAILS } from "../metrics/details.ts";
import { patient } from "../patience.ts";
import { SwitchedServer, scratch } from "../trackers/fixtures.ts";
import { MlflowServer } from "../trackers/mlflow-server.ts";

const signal = AbortSignal.timeout(patient(60_000));

/** Writes a run folder in which two steps wait for MLflow and for a tracker of an entry script. */
async function waiting(url: string): Promise<string> {
  const dir = scratch();
  mkdirSync(dir, { recursive: true });
  const config = { name: "demo", seed: 0, trackers: [{ kind: "mlflow", url, experiment: "hone" }] };
  writeRunManifest(dir, { name: "demo", config, seeds: {}, versions: {} });
  const folder = beginSession(dir, config);
  for (const name of ["mlflow", "own"]) {
    const down: Tracker = { name, send: () => Promise.reject(new Error("down")) };
    const delivery = new Delivery(down, { ...folder, warn: () => {} });
    for (const step of [1, 2]) delivery.write({ step, version: step, metrics: { a: step } }, NO_DETAILS);
    await delivery.close(0);
  }
  return dir;
}

test("what waits is sent, and what only the entry script can send stays and says so", async () => {
  const store = new MlflowServer();
  const server = await SwitchedServer.on(store.answer);
  const dir = await waiting(server.url);
  expect(trackerRows(dir)).toMatchObject([
    { tracker: "mlflow", sent: 0, waiting: 2 },
    { tracker: "own", sent: 0, waiting: 2 },
  ]);
  const rows = await sendWaiting(dir, { signal, trust: Trust.all });
  expect(rows).toMatchObject([
    { tracker: "mlflow", sent: 2, waiting: 0 },
    { tracker: "own", sent: 0, waiting: 2, note: expect.stringContaining("entry script") },
  ]);
  expect(rows[0]).not.toHaveProperty("note");
  expect(store.runs[0]!.points.filter(({ key }) => key === "a").map(({ value }) => value)).toEqual([1, 2]);
  const { requests } = server;
  await sendWaiting(dir, { signal, trust: Trust.all });
  expect(server.requests).toBe(requests);
});

test("a server that is still away keeps everything, with the reason, at once", async () => {
  const server = await SwitchedServer.off(() => {});
  const dir = await waiting(server.url);
  const begun = performance.now();
  const [row] = await sendWaiting(dir, { signal, trust: Trust.all });
  expect(performance.now() - begun).toBeLessThan(patient(5_000));
  expect(row).toMatchObject({ waiting: 2, note: expect.stringContaining("ECONNREFUSED") });
  expect(readFileSync(`${dir}/trackers/mlflow.jsonl`, "utf8").trimEnd().split("\n")).toHaveLength(2);
});

test("a run that is under way sends by itself", async () => {
  const dir = await waiting("http://127.0.0.1:1");
  using _lock = await lockFolder(dir);
  await expect(sendWaiting(dir, { signal, trust: Trust.all })).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
  });
});

test("a folder without trackers has none", async () => {
  const dir = scratch();
  writeRunManifest(dir, { name: "demo", config: { name: "demo", seed: 0 }, seeds: {}, versions: {} });
  expect(await sendWaiting(dir, { signal, trust: Trust.all })).toEqual([]);
  expect(trackerRows(dir)).toEqual([]);
});

test("a folder's own server gets neither numbers nor keys unless it is allowed, or a recipe of the user's names it", async () => {
  const store = new MlflowServer();
  const server = await SwitchedServer.on(store.answer);
  const dir = await waiting(server.url);
  const error = await sendWaiting(dir, { signal }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: "HONE_ERR_TRUST",
    message: expect.stringContaining(
      `trackers.0: sends to ${server.url}, with the key in MLFLOW_TRACKING_TOKEN`,
    ),
  });
  const other = trackerDemands([{ kind: "mlflow", url: "http://127.0.0.1:1", experiment: "hone" }]);
  await expect(sendWaiting(dir, { signal, trust: Trust.alike(other) })).rejects.toMatchObject({
    code: "HONE_ERR_TRUST",
  });
  expect(server.requests).toBe(0);
  const same = trackerDemands([{ kind: "mlflow", url: server.url, experiment: "mine" }]);
  const [row] = await sendWaiting(dir, { signal, trust: Trust.alike(same) });
  expect(row).toMatchObject({ sent: 2, waiting: 0 });
});
