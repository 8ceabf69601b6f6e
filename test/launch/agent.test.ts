import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Rendezvous } from "../../lib/fleet/index.ts";
import { runAgent, verdict } from "../../lib/launch/agent.ts";
import { spellFields } from "../../lib/launch/same-recipe.ts";
import { childProgram } from "../fixtures/child-program.ts";
import { patient } from "../patience.ts";
import { noRedis, RedisServer } from "../streams/redis/redis-server.ts";

let server: RedisServer;
const logs = mkdtempSync(join(tmpdir(), "hone-agent-"));
beforeAll(async () => {
  if (noRedis === undefined) server = await RedisServer.start();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  rmSync(logs, { recursive: true });
});

const STAND_IN = await childProgram(fileURLToPath(new URL("coordinator.ts", import.meta.url)));
const HOPELESS = [2, 4];
let runs = 0;
const RECIPE = new Map([
  ["model.path", '"a"'],
  ["hardware.processes.actors", "2"],
]);
/** The settings of the second of two nodes, which has no placements. */
const ALONE = {
  launcherEnv: { nodeRank: 1, nodes: 2 },
  placements: [],
  recipe: RECIPE,
  logs,
  gpus: false,
  coordinator: [],
  nonRetryable: [],
  signal: new AbortController().signal,
};

/**
 * Runs two agents without placements; returns their exit codes. @param how how the coordinator ends, once both agents
 * follow it
 */
function pair(how: string, signal = new AbortController().signal, recipes = [RECIPE, RECIPE]) {
  const runId = `agents-${runs++}`;
  const said: string[] = [];
  const seen = join(logs, `${runId}-seen`);
  const say = (line: string) => {
    said.push(line);
    if (said.filter((each) => each.includes("session 1")).length === 2) writeFileSync(seen, "");
  };
  const agent = (nodeRank: number) =>
    runAgent({
      launcherEnv: { nodeRank, nodes: 2 },
      placements: [],
      runId,
      store: server.url,
      recipe: recipes[nodeRank]!,
      logs,
      gpus: false,
      coordinator: [process.execPath, ...STAND_IN, how, seen],
      nonRetryable: HOPELESS,
      signal,
      say,
    });
  return { runId, codes: Promise.all([agent(0), agent(1)]), said };
}

test.each([
  [0, 0],
  [2, 78],
  [4, 78],
  [1, 75],
  [3, 75],
  [143, 75],
  [null, 75], // killed
])("a coordinator that ends with %s asks for %s", (code, asked) => {
  expect(verdict(code, HOPELESS)).toBe(asked);
});

describe.skipIf(noRedis !== undefined)("two nodes", () => {
  test("end with the coordinator's end, each with its code", async () => {
    const all = await Promise.all([pair("0").codes, pair("4").codes, pair("1").codes]);
    expect(all).toEqual([
      [0, 0],
      [78, 78],
      [75, 75],
    ]);
  });

  test("SIGTERM is the coordinator's; the other node stays until it has saved", async () => {
    const stop = new AbortController();
    const { codes, said } = pair("wait", stop.signal);
    while (said.filter((line) => line.includes("session 1")).length < 2)
      await new Promise((resolve) => setTimeout(resolve, 50));
    stop.abort();
    expect(await codes).toEqual([75, 75]);
  });

  test("an agent more of a node that has one is refused, before it takes that one's places", async () => {
    const stop = new AbortController();
    const { runId, codes, said } = pair("wait", stop.signal);
    while (said.filter((line) => line.includes("session 1")).length < 2)
      await new Promise((resolve) => setTimeout(resolve, 50));
    await using again = await Rendezvous.open(server.url, runId, 100); // the lease lasts twice as long
    for (const node of [0, 1])
      await expect(again.takeNode(node)).rejects.toThrow(
        `another agent of node ${node} of ${runId} is alive`,
      );
    stop.abort();
    expect(await codes).toEqual([75, 75]);
    for (const node of [0, 1]) await (await again.takeNode(node)).close(); // the agents have released their nodes
  });

  test.each([0, 1])(
    "agents with other recipes end by the names of fields, both with 78, where node %i came first",
    async (first) => {
      const stop = new AbortController();
      const other = new Map([...RECIPE, ["model.path", '"b"']]);
      const recipes = [RECIPE, other];
      const { runId, codes, said } = pair("wait", stop.signal, recipes);
      await using earlier = await Rendezvous.open(server.url, runId);
      await earlier.recipe(1, spellFields(new Map([...recipes[first]!, ["nodes", "2"]])));
      const refused = new RegExp(
        `node ${1 - first}: its recipe differs from another node's: model\\.path is "(a|b)" here, "(?!\\1)[ab]" there\\. Give all agents the same`,
      );
      while (!said.some((line) => refused.test(line)))
        await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await earlier.failure(1, AbortSignal.timeout(patient(5000)))).toMatch(refused);
      stop.abort(); // the coordinator ends at this error
      expect(await codes).toEqual([78, 78]);
    },
  );

  test("a node that joins by another recipe ends alone, and by the same one stays", async () => {
    const stop = new AbortController();
    const { runId, codes, said } = pair("wait", stop.signal);
    while (said.filter((line) => line.includes("session 1")).length < 2)
      await new Promise((resolve) => setTimeout(resolve, 50));
    const words: string[] = [];
    const join = (recipe: ReadonlyMap<string, string>, signal: AbortSignal) =>
      runAgent({
        ...ALONE,
        launcherEnv: { nodeRank: 0, nodes: 1 },
        joins: { actors: 0, verifiers: 0, begun: { actors: 2 } },
        recipe,
        runId,
        store: server.url,
        signal,
        say: (line) => words.push(line),
      });
    expect(await join(new Map([["model.path", '"a"']]), stop.signal)).toBe(78);
    expect(words.at(-1)).toContain("hardware.processes.actors is not given here, 2 there.");
    expect(await join(RECIPE, AbortSignal.timeout(1000))).toBe(0); // the agent was told to leave
    await using there = await Rendezvous.open(server.url, runId);
    await expect(there.failure(1, AbortSignal.timeout(100))).resolves.toBeUndefined();
    stop.abort();
    expect(await codes).toEqual([75, 75]);
  });

  test("an agent that comes when its coordinator has ended ends so at once; one of the next launch follows the next coordinator", async () => {
    const runId = `agents-${runs++}`;
    const [seen, unseen] = ["seen", "unseen"].map((name) => join(logs, `${runId}-${name}`)) as [
      string,
      string,
    ];
    writeFileSync(seen, "");
    const said: string[] = [];
    const agent = (nodeRank: number, launch: string, how = "0", until = seen) =>
      runAgent({
        ...ALONE,
        launcherEnv: { nodeRank, nodes: 2, launch },
        runId,
        store: server.url,
        coordinator: [process.execPath, ...STAND_IN, how, until],
        nonRetryable: HOPELESS,
        say: (line) => said.push(line),
      });
    expect(await agent(0, "job.0/0", "1")).toBe(75);
    expect(await agent(1, "job.0/0")).toBe(75);
    expect(said.at(-1)).toBe(
      "node 1: the coordinator of this launch has already ended, and no other will follow (75)",
    );
    const early = agent(1, "job.0/1");
    const first = agent(0, "job.0/1", "4", unseen);
    while (!said.includes(`node 1: session 2 of ${runId}`))
      await new Promise((resolve) => setTimeout(resolve, 50));
    writeFileSync(unseen, "");
    expect(await Promise.all([first, early])).toEqual([78, 78]);
    rmSync(unseen);
    const replaced = agent(0, "job.0/0", "0", unseen); // restarts the first node's agent in the same launch
    while (!said.includes(`node 0: session 3 of ${runId}`))
      await new Promise((resolve) => setTimeout(resolve, 50));
    await using there = await Rendezvous.open(server.url, runId);
    expect(await there.endOfLaunch("job.0/0", AbortSignal.timeout(50))).toBeUndefined();
    writeFileSync(unseen, "");
    expect(await replaced).toBe(0);
    expect(await agent(1, "job.0/0")).toBe(0);
  });

  test("a coordinator that ends before it sits takes the agents that wait for it along", async () => {
    const runId = `agents-${runs++}`;
    const agent = (nodeRank: number) =>
      runAgent({
        ...ALONE,
        launcherEnv: { nodeRank, nodes: 2, launch: "job" },
        runId,
        store: server.url,
        coordinator: [process.execPath, "-e", "process.exit(2)"],
        nonRetryable: HOPELESS,
        say: () => {},
      });
    expect(await Promise.all([agent(0), agent(1)])).toEqual([78, 78]);
  });

  test("an agent that nobody coordinates says so, and whom it waits for", async () => {
    const stop = new AbortController();
    const said: string[] = [];
    const code = runAgent({
      ...ALONE,
      runId: "mistyped",
      store: server.url,
      signal: stop.signal,
      say: (line) => said.push(line),
    });
    while (said.length === 0) await new Promise((resolve) => setTimeout(resolve, 100));
    stop.abort();
    expect(await code).toBe(75);
    expect(said).toEqual([
      `node 1: no coordinator of mistyped (HONE_RUN_ID) is alive at ${server.url}; waiting, for 10 minutes`,
    ]);
  });
});

test("a store that no other machine has is refused", async () => {
  const refused = runAgent({ ...ALONE, runId: "x", store: "unix:x", say: () => {} });
  await expect(refused).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});
