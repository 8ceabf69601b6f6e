import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { gradeOnHand, lookAtTraces } from "../../lib/traces/look.ts";
import { HONE } from "../fixtures/command-line.ts";
import { type Asked, LabellingServer } from "./labelling-server.ts";
import { freshDir, smallEvaluation, thought } from "./small-evaluation.ts";

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one[Symbol.asyncDispose]();
});

async function serving() {
  const server = new LabellingServer();
  open.push(server);
  const url = `${await server.listen()}/v1`;
  return {
    server,
    url,
    model: { url, model: "judge", concurrency: 2, retries: 0, backoffMs: 1, timeoutMs: 5000 },
  };
}

const evaluation = (model: string, count = 6, words = "some words") =>
  smallEvaluation(
    model,
    Array.from({ length: count }, (_, i) => ({
      question: `Question ${i}?`,
      text: thought(`Given is ${i}. It has ${words}.`, `Let me check that ${i} of ${model} is fine.`),
      tokens: 50 + i,
    })),
  );

test("before against after: page, tables, pictures and numbers in the second folder, the heuristic named with its accuracy", async () => {
  const [before, after] = [
    evaluation("base", 6, "a great many superfluous words in it"),
    evaluation("tuned"),
  ];
  const told: string[] = [];
  const look = await lookAtTraces([before, after], {
    onProgress: (read, total) => told.push(`${read}/${total}`),
  });
  expect(look.whole).toBe(true);
  expect(look.reader).toBe("heuristic");
  expect(look.notes[0]).toMatch(/heuristic, no model.*80\.6 % rightly \(κ 0\.747\)/s);
  expect(look.measures.sides.map(({ name, traces, steps }) => [name, traces, steps])).toEqual([
    ["base", 6, 18],
    ["tuned", 6, 18],
  ]);
  expect(look.measures.ofSteps.find(({ name }) => name === "verification")!.sides[1]!.value).toBeCloseTo(
    1 / 3,
    12,
  );
  expect(told.at(-1)).toBe("12/12");
  expect(look.page).toBe(join(after, "traces", "traces.html"));
  expect(readFileSync(look.page, "utf8")).toContain("base → tuned");
  for (const name of [
    "tables/steps.tex",
    "tables/sizes.csv",
    "tables/lengths.md",
    "figures/what-steps-do.svg",
    "traces.json",
  ])
    expect([name, existsSync(join(after, "traces", name))]).toEqual([name, true]);
});

test("a model's labels are kept in each folder by content, with the agreement of its passes", async () => {
  const { server, model } = await serving();
  server.category = (text, seed) =>
    seed === 2 && text.startsWith("Let me") ? "verification" : "forward reasoning";
  const [before, after] = [evaluation("base"), evaluation("tuned")];
  const { whole, measures, notes } = await lookAtTraces([before, after], { model });
  expect(whole).toBe(true);
  expect(notes[0]).toContain("judge");
  for (const { agreement, steps } of measures.sides) {
    expect(agreement!.count).toBe(steps);
    expect(agreement!.share).toBeLessThan(1);
  }
  const asked = server.asked.length;
  expect(asked).toBe(2 * 6 * 3);
  await lookAtTraces([after], { model });
  await lookAtTraces([before], { model, out: freshDir() });
  expect(server.asked).toHaveLength(asked);
});

test("an outage is no category: counted, left out of the numbers, and asked for again by the same call", async () => {
  const { server, model } = await serving();
  server.script = (asked) => (asked.prompt.includes("Question 3?") ? 503 : server.proper(asked));
  const dir = evaluation("base");
  const first = await lookAtTraces([dir], { model });
  expect(first.whole).toBe(false);
  expect(first.measures.sides[0]).toMatchObject({ traces: 5, outages: { "the server says 503: no": 1 } });
  expect(first.notes.at(-1)).toContain("to ask for them again");
  const asked = server.asked.length;
  server.script = (one) => server.proper(one);
  const second = await lookAtTraces([dir], { model });
  expect(second.whole).toBe(true);
  expect(second.measures.sides[0]).toMatchObject({ traces: 6, outages: {} });
  expect(server.asked).toHaveLength(asked + 3);
});

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

function hone(args: readonly string[], started: (kill: () => void) => void = () => {}): Promise<Ended> {
  const child = spawn(process.execPath, [...HONE, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (data) => (stdout += data));
  child.stderr.on("data", (data) => (stderr += data));
  started(() => child.kill("SIGKILL"));
  return new Promise((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr })),
  );
}

test("a process that is killed loses nothing that was answered", async () => {
  const { server, url } = await serving();
  const dir = evaluation("base");
  const args = ["traces", dir, "--endpoint", url, "--model", "judge", "--concurrency", "1"];
  const answered: string[] = [];
  const nameOf = ({ prompt, seed }: Asked) => `${seed} ${prompt}`;
  let kill = () => {};
  server.script = (asked, count) => {
    if (count === 7) kill();
    if (count >= 7) return "silence";
    answered.push(nameOf(asked));
    return server.proper(asked);
  };
  const killed = await hone(args, (how) => {
    kill = how;
  });
  expect(killed.signal).toBe("SIGKILL");
  expect(answered).toHaveLength(7);
  server.asked.length = 0;
  server.script = (asked) => server.proper(asked);
  const { code, stdout } = await hone([...args, "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ reader: "judge", sides: [{ traces: 6, unclassified: 0 }] });
  expect(server.asked).toHaveLength(6 * 3 - 7);
  expect(server.asked.map(nameOf).filter((name) => answered.includes(name))).toEqual([]);
});

test("the command ends with 4 for steps without a category, and 2 for half of a model", async () => {
  const { server, url } = await serving();
  server.script = (asked) => (asked.kind === "label" ? "no JSON" : server.proper(asked));
  const dir = evaluation("base", 2);
  const bad = await hone(["traces", dir, "--endpoint", url, "--model", "judge", "--format", "csv"]);
  expect(bad.code).toBe(4);
  expect(bad.stdout).toMatch(/^base,2,2,6,6,0,0,–,–$/m);
  expect(bad.stderr).toContain("repeat the command to ask for the rest");
  const half = await hone(["traces", dir, "--model", "judge"]);
  expect([half.code, half.stderr]).toEqual([
    2,
    expect.stringContaining("--endpoint and --model go together"),
  ]);
});

test("a file of traces labelled by hand grades a model, whose answers are kept beside it", async () => {
  const { server, model } = await serving();
  server.category = () => "verification";
  const path = join(freshDir(), "hand.jsonl");
  const steps = [
    { before: "", text: "One.", category: "verification" },
    { text: "Two.", category: "backtracking" },
  ];
  writeFileSync(path, `${JSON.stringify({ steps })}\n`);
  const { reader, grades, whole, tables } = await gradeOnHand(path, { model });
  expect([reader, whole]).toEqual(["judge", true]);
  expect(grades).toMatchObject([{ set: "all", traces: 1, steps: 2, agreement: { share: 0.5, kappa: 0 } }]);
  expect(tables).toHaveLength(2);
  expect(existsSync(`${path}.answers.jsonl`)).toBe(true);
});
