// Runs against a strict stand-in, and against a real server if HONE_MLFLOW_PYTHON names a Python with mlflow.
import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Tracked, TrackedStep } from "../../lib/trackers/index.ts";
import { flatten, MlflowTracker, mlflowHeaders, mlflowKey } from "../../lib/trackers/mlflow.ts";
import { runIn, SwitchedServer, scratch, stepOf } from "./fixtures.ts";
import { MlflowServer } from "./mlflow-server.ts";

const run = runIn("/runs/demo");
const signal = AbortSignal.timeout(60_000);
const end = (state: "finished" | "stopped" | "failed"): Tracked => ({
  kind: "end",
  at: 1_700_000_100_000.4,
  sitting: 1,
  state,
});
const tracker = (url: string) =>
  new MlflowTracker({ url, experiment: "hone", headers: { authorization: "Bearer t" } });

async function served() {
  const store = new MlflowServer();
  const server = await SwitchedServer.on(store.answer);
  return { store, server };
}

test("an experiment, a run, its recipe, every point once, its end", async () => {
  const { store, server } = await served();
  const mlflow = tracker(`${server.url}/`);
  const entries = [stepOf(1), stepOf(2, { "lag/share/8+": 0.5, "score/mean": 0.2 }), end("finished")];
  const memory = await mlflow.send(entries, { run, signal, memory: undefined });
  expect(memory).toEqual({ mlflowRun: "run1", params: true });
  expect([...store.experiments]).toEqual([["hone", "1"]]);
  const [made] = store.runs;
  expect(made).toMatchObject({ name: "demo", status: "FINISHED", endTime: 1_700_000_100_000 });
  expect(made!.tags.get("hone.run")).toBe(run.id);
  expect([...made!.params]).toEqual([
    ["name", "demo"],
    ["optimizer.lr", "0.001"],
    ["domains.math.weight", "1"],
  ]);
  expect(made!.points.map(({ key, value, step, timestamp }) => [key, value, step, timestamp])).toEqual([
    ["score/mean", 0.1, 1, 1_700_000_001_000],
    ["hone/step", 1, 1, 1_700_000_001_000],
    ["lag/share/8-or-more", 0.5, 2, 1_700_000_002_000],
    ["score/mean", 0.2, 2, 1_700_000_002_000],
    ["hone/step", 2, 2, 1_700_000_002_000],
  ]);
  expect([...store.authorizations]).toEqual(["Bearer t"]);
});

const points = (store: MlflowServer) =>
  store.runs.flatMap((one) => one.points.filter(({ key }) => key === "hone/step").map(({ step }) => step));

test("a portion whose answer was lost is not there twice, nor is a run, nor a step of a resumed run", async () => {
  const { store, server } = await served();
  const first = tracker(server.url);
  const { answer } = store;
  // handles every request, but drops every third answer
  let n = 0;
  server.behaviour = async (request, response) => {
    n += 1;
    if (n % 3 !== 0) return answer(request, response);
    const whole = { writeHead: () => ({ end: () => response.destroy() }) } as never;
    await answer(request, whole);
  };
  let memory: unknown;
  const portions: Tracked[][] = [[stepOf(1), stepOf(2)], [stepOf(3)], [end("stopped")]];
  for (const portion of portions) {
    for (let tries = 0; ; ++tries) {
      const sent = await first.send(portion, { run, signal, memory }).catch(() => undefined);
      memory = sent ?? memory;
      if (sent !== undefined) break;
      expect(tries).toBeLessThan(20);
    }
  }
  expect(store.runs).toHaveLength(1);
  expect(points(store)).toEqual([1, 2, 3]);
  expect(store.runs[0]!.status).toBe("KILLED");
  server.behaviour = answer;
  // the process was killed before it noted what it had sent, and the run resumed from the checkpoint of step 1
  const next = tracker(server.url);
  const anew = [2, 3, 4].map((step) => ({ ...stepOf(step, { "score/mean": 0.9 }), sitting: 2 }));
  await next.send(anew, { run, signal, memory: undefined });
  expect(points(store)).toEqual([1, 2, 3, 4]);
  expect(store.runs[0]!.status).toBe("RUNNING");
});

test("steps of more than a thousand metrics, and recipes of more than a hundred fields, go in several requests", async () => {
  const { store, server } = await served();
  const wide = Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`m/${i}`, i]));
  const huge = Object.fromEntries(Array.from({ length: 2300 }, (_, i) => [`m/${i}`, i]));
  const recipe = Object.fromEntries(Array.from({ length: 250 }, (_, i) => [`f${i}`, "x".repeat(600)]));
  const entries: TrackedStep[] = [stepOf(1, wide), stepOf(2, wide), stepOf(3, huge)];
  await tracker(server.url).send(entries, { run: { ...run, recipe }, signal, memory: undefined });
  expect(store.runs[0]!.points).toHaveLength(700 * 2 + 2300 + 3);
  expect(store.runs[0]!.params.size).toBe(250);
  expect(points(store)).toEqual([1, 2, 3]);
});

test("a server that is no MLflow server is said to be none, and nothing is thrown away", async () => {
  const server = await SwitchedServer.on(
    (_, response) => void response.writeHead(200).end("<html>hello</html>"),
  );
  const sent = tracker(server.url).send([stepOf(1)], { run, signal, memory: undefined });
  await expect(sent).rejects.toMatchObject({
    refused: false,
    message: expect.stringContaining("is this an MLflow server?"),
  });
});

test("a recipe as parameters, and names as keys", () => {
  expect(flatten({ a: { b: [1, 2], c: null }, d: "x", e: {} })).toEqual([
    ["a.b", "[1,2]"],
    ["a.c", "null"],
    ["d", "x"],
  ]);
  expect(mlflowKey("verifier/p99-ms/größe (alt)")).toBe("verifier/p99-ms/gr__e _alt_");
  expect(mlflowKey("a".repeat(300))).toHaveLength(250);
});

test("credentials come from MLflow's own variables", () => {
  expect(mlflowHeaders({})).toEqual({});
  expect(mlflowHeaders({ MLFLOW_TRACKING_TOKEN: "t" })).toEqual({ authorization: "Bearer t" });
  const basic = { MLFLOW_TRACKING_USERNAME: "u", MLFLOW_TRACKING_PASSWORD: "p:w" };
  expect(mlflowHeaders(basic)).toEqual({ authorization: `Basic ${btoa("u:p:w")}` });
  expect(() => mlflowHeaders({ MLFLOW_TRACKING_USERNAME: "u" })).toThrow(/MLFLOW_TRACKING_PASSWORD is not/);
});

const mlflowPython = process.env["HONE_MLFLOW_PYTHON"];

describe("a real mlflow server", () => {
  test.skipIf(mlflowPython === undefined)(
    "has a run's points once, its parameters and its state",
    async () => {
      const url = await realServer(mlflowPython!);
      const entries = [stepOf(1), stepOf(2, { "lag/share/8+": 0.5, "score/mean": 0.2 })];
      await tracker(url).send(entries, { run, signal, memory: undefined });
      await tracker(url).send([...entries, stepOf(3), end("finished")], { run, signal, memory: undefined });
      const read = async (path: string) =>
        (await fetch(`${url}/api/2.0/mlflow/${path}`)).json() as Promise<never>;
      const experiment = (await read("experiments/get-by-name?experiment_name=hone")) as {
        experiment: { experiment_id: string };
      };
      const { runs } = (await (
        await fetch(`${url}/api/2.0/mlflow/runs/search`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ experiment_ids: [experiment.experiment.experiment_id] }),
        })
      ).json()) as {
        runs: { info: { run_id: string; status: string }; data: { params: { key: string }[] } }[];
      };
      expect(runs).toHaveLength(1);
      expect(runs[0]!.info.status).toBe("FINISHED");
      expect(runs[0]!.data.params.map(({ key }) => key)).toContain("optimizer.lr");
      const { metrics } = (await read(
        `metrics/get-history?run_id=${runs[0]!.info.run_id}&metric_key=score%2Fmean`,
      )) as { metrics: { step: number; value: number }[] };
      expect(metrics.map(({ step, value }) => [step, value])).toEqual([
        [1, 0.1],
        [2, 0.2],
        [3, 0.3],
      ]);
    },
    120_000,
  );
});

async function realServer(python: string): Promise<string> {
  const probe = createServer();
  const port = await new Promise<number>((resolve) =>
    probe.listen(0, "127.0.0.1", () => resolve((probe.address() as { port: number }).port)),
  );
  await new Promise((resolve) => probe.close(resolve));
  const dir = scratch();
  const store = [
    "--backend-store-uri",
    `sqlite:///${join(dir, "mlflow.db")}`,
    "--artifacts-destination",
    dir,
  ];
  const args = [
    "-m",
    "mlflow",
    "server",
    "--host",
    "127.0.0.1",
    "--port",
    String(port),
    "--workers",
    "1",
    ...store,
  ];
  const server: ChildProcess = spawn(python, args, { cwd: dir, stdio: "ignore", detached: true });
  onTestFinished(() => void process.kill(-server.pid!, "SIGKILL"));
  const url = `http://127.0.0.1:${port}`;
  for (const until = Date.now() + 90_000; Date.now() < until; ) {
    const alive = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (alive) return url;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error("the mlflow server did not start");
}
