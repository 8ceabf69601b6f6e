// Deliberate faults (mutants) that these tests detect: metrics are sent before tables, the tag is unbounded, a
// refused table stops the metrics.
import { expect, test } from "vitest";
import { MlflowTracker } from "../../lib/trackers/mlflow.ts";
import { runIn, SwitchedServer, stepOf } from "./fixtures.ts";
import { MlflowServer } from "./mlflow-server.ts";

const sending = {
  run: runIn("/runs/demo"),
  signal: AbortSignal.timeout(60_000),
  memory: undefined as unknown,
};
const table = { columns: ["step", "completion"], data: [[1, "it is 4"]] };
const tabled = (step: number) => ({ ...stepOf(step), completions: table });

async function served() {
  const store = new MlflowServer();
  const server = await SwitchedServer.on(store.answer);
  const tracker = () =>
    new MlflowTracker({ url: server.url, experiment: "hone", headers: {}, completions: 2 });
  return { store, server, tracker };
}
const listed = (store: MlflowServer) =>
  (JSON.parse(store.runs[0]!.tags.get("mlflow.loggedArtifacts")!) as { path: string; type: string }[]).map(
    ({ path, type }) => `${type} ${path}`,
  );

test("tables are artifacts of the run, and its page is told that they are tables", async () => {
  const { store, tracker } = await served();
  expect(tracker().completionsEvery).toBe(2);
  const memory = await tracker().send([stepOf(1), tabled(2)], sending);
  expect(JSON.parse(store.runs[0]!.artifacts.get("completions/step-000002.json")!)).toEqual(table);
  await tracker().send([stepOf(3), tabled(4)], { ...sending, memory });
  expect(listed(store)).toEqual(["table completions/step-000002.json", "table completions/step-000004.json"]);
  expect(store.runs[0]!.points.filter(({ key }) => key === "hone/step")).toHaveLength(4);
});

test("the tag stays within its bound; older tables stay artifacts", async () => {
  const { store, tracker } = await served();
  await tracker().send(
    Array.from({ length: 70 }, (_, i) => tabled(i + 1)),
    sending,
  );
  expect(listed(store)).toHaveLength(50);
  expect(listed(store).at(-1)).toBe("table completions/step-000070.json");
  expect(store.runs[0]!.artifacts.size).toBe(70);
});

test("a server that fails is asked again, with nothing twice", async () => {
  const { store, server, tracker } = await served();
  server.behaviour = (request, response) =>
    request.method === "PUT" ? void response.writeHead(502).end() : store.answer(request, response);
  const mlflow = tracker();
  await expect(mlflow.send([tabled(2)], sending)).rejects.toThrow("HTTP 502");
  expect(store.runs[0]!.points).toEqual([]);
  server.behaviour = store.answer;
  await mlflow.send([tabled(2)], sending);
  expect(store.runs[0]!.artifacts.size).toBe(1);
  expect(store.runs[0]!.points.filter(({ key }) => key === "hone/step")).toHaveLength(1);
});

test.each([
  [
    "another store",
    "s3://bucket/1",
    undefined,
    /^not sent: the artifacts of this run are at s3:\/\/bucket\/1\/run1\/artifacts/,
  ],
  ["a proxy that refuses", "mlflow-artifacts:/1", 403, /^not sent: HTTP 403/],
])("%s: the metrics go on, and a tag says why there are no tables", async (_, root, status, why) => {
  const { store, server, tracker } = await served();
  store.artifactRoot = root;
  server.behaviour = (request, response) =>
    request.method === "PUT" ? void response.writeHead(status!).end() : store.answer(request, response);
  await tracker().send([tabled(2)], sending);
  expect(store.runs[0]!.tags.get("hone.completions")).toMatch(why);
  expect(store.runs[0]!.points.filter(({ key }) => key === "hone/step")).toHaveLength(1);
});
