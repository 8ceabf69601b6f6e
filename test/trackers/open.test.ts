// Runs through createRun on a core without arithmetic: killed, resumed, with servers that are down.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { defineRecipe, recipeInput } from "../../lib/config/index.ts";
import { createRun, type Run } from "../../lib/orchestration/index.ts";
import {
  beginSession,
  openTrackers,
  type Tracked,
  type Tracker,
  trackedFolder,
  trackerOf,
} from "../../lib/trackers/index.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";
import { SwitchedServer, scratch } from "./fixtures.ts";
import { MlflowServer } from "./mlflow-server.ts";

const recipe = (trackers: object[], more: object = {}) =>
  defineRecipe({ ...recipeInput(smallRecipe()), trackers: trackers as never, ...more });

const warned = (run: Run): string[] => {
  const warnings: string[] = [];
  run.on("warning", (text) => void (text.startsWith("tracker") && warnings.push(text)));
  return warnings;
};

test("a run tells MLflow every step and its end, and run.json holds no credentials", async () => {
  const store = new MlflowServer();
  const server = await SwitchedServer.on(store.answer);
  const dir = scratch();
  process.env["MLFLOW_TRACKING_TOKEN"] = "secret-token";
  try {
    await using run = await createRun(recipe([{ kind: "mlflow", url: server.url }]), {
      verifiers,
      dir,
      core: standInCore(),
    });
    await run.finished;
  } finally {
    delete process.env["MLFLOW_TRACKING_TOKEN"];
  }
  expect(store.runs).toMatchObject([{ status: "FINISHED" }]);
  const steps = store.runs[0]!.points.filter(({ key }) => key === "hone/step").map(({ step }) => step);
  expect(steps).toEqual([1, 2, 3, 4, 5, 6]);
  expect(store.runs[0]!.points.map(({ key }) => key)).toContain("tracker/waiting/mlflow");
  expect([...store.authorizations]).toEqual(["Bearer secret-token"]);
  for (const file of ["run.json", "trackers/mlflow.json", "trackers/.run.json", "events.jsonl"])
    expect(readFileSync(join(dir, file), "utf8")).not.toContain("secret-token");
});

test("a server that is away during the whole run and back for the next session has one continuous history", async () => {
  const store = new MlflowServer();
  const server = await SwitchedServer.off(store.answer);
  const dir = scratch();
  const choices = [{ kind: "mlflow", url: server.url }];
  const short = recipe(choices, { training: { ...recipeInput(smallRecipe()).training, steps: 4 } });
  {
    await using run = await createRun(short, { verifiers, dir, core: standInCore() });
    const warnings = warned(run);
    expect(await run.finished).toMatchObject({ steps: 4 });
    await run[Symbol.asyncDispose]();
    expect(warnings[0]).toMatch(/tracker mlflow does not accept entries .*ECONNREFUSED/);
    expect(warnings.at(-1)).toMatch(/has 5 entries that are not sent yet: hone track send/);
  }
  await server.switchOn();
  {
    await using run = await createRun(recipe(choices), {
      verifiers,
      dir,
      core: standInCore(),
      resume: "auto",
    });
    await run.finished;
  }
  expect(store.runs).toHaveLength(1);
  expect(store.runs[0]!.status).toBe("FINISHED");
  const steps = store.runs[0]!.points.filter(({ key }) => key === "hone/step").map(({ step }) => step);
  expect(steps).toEqual([1, 2, 3, 4, 5, 6]);
  expect(trackedFolder(dir, short)).toMatchObject({ sitting: 2, run: { name: short.name } });
});

test("a tracker of the entry script's own is sent to beside the run; what it throws ends nothing", async () => {
  const got: Tracked[] = [];
  let calls = 0;
  const mine: Tracker = {
    name: "mine",
    send: async (entries, { run }) => {
      calls += 1;
      if (calls === 1) throw new Error("not yet");
      expect(run.recipe).toMatchObject({ name: run.name });
      got.push(...entries);
    },
  };
  const dir = scratch();
  {
    await using run = await createRun(smallRecipe(), { verifiers, dir, core: standInCore(), sinks: [mine] });
    await run.finished;
  }
  const state = JSON.parse(readFileSync(join(dir, "trackers/mine.json"), "utf8")) as {
    sent: number;
    failures: number;
  };
  expect(state.failures).toBeGreaterThan(0);
  expect(got.length).toBe(state.sent);
  const left = { name: "mine", send: async (entries: readonly Tracked[]) => void got.push(...entries) };
  const [delivery] = openTrackers([], [left], beginSession(dir, smallRecipe()), { warn: () => {} });
  await delivery!.close();
  expect(got.map((entry) => (entry.kind === "step" ? entry.step : entry.state))).toEqual([
    1,
    2,
    3,
    4,
    5,
    6,
    "finished",
  ]);
});

test("every kind of choice opens; two of one name, and a server that nobody names, are errors", async () => {
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done() });
  const env = {
    MLFLOW_TRACKING_URI: "http://127.0.0.1:1",
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1",
  };
  const open = (choices: never[], own: Tracker[] = []) =>
    openTrackers(choices, own, beginSession(scratch(), smallRecipe()), { warn: () => {} }, { env, stdout });
  const { trackers } = recipe([
    { kind: "mlflow" },
    { kind: "otlp" },
    { kind: "wandb" },
    { kind: "prometheus", port: 0 },
    { kind: "jsonl", path: "-" },
  ]);
  const sinks = open(trackers as never[]);
  expect(sinks.map(({ name }) => name)).toEqual(["mlflow", "otlp", "wandb", "prometheus-endpoint", "jsonl"]);
  for (const sink of sinks) await sink.close();
  const mine = { name: "mine", send: async () => {} };
  expect(() => open([], [mine, mine])).toThrow(/unique name/);
  expect(() => open([], [{ ...mine, name: "../x" }])).toThrow(/unique name/);
  for (const uri of [undefined, "sqlite:///x", "http://me:secret@host"]) {
    const away = () =>
      trackerOf(trackers[0]!, { env: uri === undefined ? {} : { MLFLOW_TRACKING_URI: uri }, stdout });
    expect(away).toThrow(
      expect.objectContaining({ code: "HONE_ERR_CONFIG", message: expect.not.stringMatching(/secret/) }),
    );
  }
});
