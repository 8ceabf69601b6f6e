// A command runs nothing that the record in another user's run folder names, unless the user agrees. The list of verbs
// that take a folder comes from the command tree, so that a new verb fails here until it has a case.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { program } from "../../lib/cli/program.ts";
import { LiveServer } from "../../lib/live/index.ts";
import { Trust } from "../../lib/trust.ts";
import { HONE } from "../fixtures/command-line.ts";
import { long, longest } from "../long.ts";
import { patient } from "../patience.ts";
import { CASES, FOLDERS, OTHERS, OWN_PROCESS, placesOf } from "./folder-cases.ts";
import {
  at,
  type Config,
  clearMarks,
  hone,
  honeQuick,
  marks,
  read,
  recordRun,
  removeAll,
  run,
  SECRETS,
  step,
  tampered,
} from "./hostile-run.ts";
import { noAddon } from "./native-core.ts";

const native = test.skipIf(!long || noAddon !== undefined);

beforeAll(async () => {
  if (!long || noAddon !== undefined) return;
  await recordRun();
  expect(marks()).toEqual(["map", "reward", "slopes", "source", "verifier"]);
}, patient(120_000));
afterAll(removeAll);
beforeEach(() => {
  if (long && noAddon === undefined) clearMarks();
});

/** Arguments whose kind matches FOLDERS but that take no folder: "traces --model" names a model on a server. */
const NOT_THESE = ["traces --model"];
const places = placesOf(program());
const folders = places.filter(({ name, kind }) => FOLDERS.test(kind) && !NOT_THESE.includes(name));

test("every place of the command tree that takes a folder has a case, and every other is known as none", () => {
  expect(places.filter(({ kind }) => !FOLDERS.test(kind) && !OTHERS.test(kind))).toEqual([]);
  expect(Object.keys(CASES).sort()).toEqual(folders.map(({ name }) => name).sort());
  // a verb has --trust exactly if it runs what the record names
  const able = folders.filter(({ trusts }) => trusts).map(({ name }) => name);
  const servers = ["status run", "track send run"]; // tested in test/cli/store-status.test.ts and track.test.ts
  expect(able.filter((name) => CASES[name]!.runs === undefined)).toEqual(servers);
  expect(folders.filter(({ trusts, name }) => !trusts && CASES[name]!.runs !== undefined)).toEqual([]);
});

native.each(Object.entries(CASES).filter(([, { apart }]) => !apart))(
  "%s: nothing of the folder's runs unasked",
  async (name, { args, runs, ends = 0 }) => {
    const dir = at("copy");
    rmSync(dir, { recursive: true, force: true });
    cpSync(run, dir, { recursive: true });
    const isQuick = runs === undefined && !OWN_PROCESS.test(name);
    const { status, said } = await (isQuick ? honeQuick : hone)(args(dir));
    expect(marks()).toEqual([]);
    expect(said).not.toMatch(/hf_secret|sk-secret/);
    expect(said).not.toMatch(/\n {4}at /); // the message is for users, so it has no stack
    if (runs === undefined) {
      expect([status, said]).toEqual([ends, expect.any(String)]);
      return;
    }
    expect(status).toBe(2);
    expect(said).toContain("HONE_ERR_TRUST");
    for (const one of runs)
      expect(said).toMatch(new RegExp(`runs ${at(`${one}.mjs`)} \\(sha256 [0-9a-f]{64}, as recorded\\)`));
    expect(said).toContain(`hone ${args(dir).join(" ")} --trust`);
    if (!longest && name !== "rescore folder") return; // by default only this verb is also run with --trust
    const trusted = hone([...args(dir), "--trust"]);
    expect([trusted.status, trusted.said]).toEqual([0, expect.any(String)]);
    expect(marks()).toEqual([...runs].sort());
  },
  patient(120_000),
);

const EVIL = (name: string) =>
  `data:text/javascript,${encodeURIComponent(`import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(at("marks", name))}, "");`)}`;

const PLACES: readonly [field: string, change: (c: Config) => void][] = [
  ["verification.modules", (c: Config) => Object.assign(c.verification, { modules: { own: EVIL("data") } })],
  ["a source", (c: Config) => Object.assign(c.domains.words, { source: EVIL("data") })],
  ["a reward", (c: Config) => Object.assign(c.domains.math, { reward: EVIL("data") })],
  [
    "slopes",
    (c: Config) => Object.assign(c.objective, { slopes: { module: EVIL("data"), sha256: "0".repeat(64) } }),
  ],
  [
    "a map",
    (c: Config) =>
      Object.assign(c.evaluation.sets.rows.source, { map: { module: EVIL("data"), sha256: "0".repeat(64) } }),
  ],
  ["an environment", (c: Config) => Object.assign(c.domains.words, { environment: at("source.mjs") })],
];
native.each(longest ? PLACES : PLACES.slice(0, 1))(
  "a data: URL, or a module where none belongs, is refused with --trust too: %s",
  (_, change) => {
    const dir = tampered(change);
    for (const { args, runs } of Object.values(CASES)) {
      if (runs === undefined || args(dir).length === 0) continue;
      expect(hone([...args(dir), "--trust"])).toMatchObject({
        status: 2,
        said: expect.stringContaining("HONE_ERR_CONFIG"),
      });
    }
    expect(marks()).toEqual([]);
  },
  patient(120_000),
);

native(
  "a log with other modules than run.json, and a folder all of links, get no further",
  () => {
    const other = tampered(
      (config) => Object.assign(config.objective, { kind: "gspo", slopes: undefined }),
      ["run.json"],
    );
    const asked = ["--step", "2", "--problem", `${step.problem}`, "--attempt", `${step.attempt}`];
    for (const args of [
      ["replay", other],
      ["explain", other, ...asked],
    ])
      expect(hone(args)).toMatchObject({ status: 2, said: expect.stringContaining("HONE_ERR_TRUST") });
    const links = at("links");
    mkdirSync(links, { recursive: true });
    for (const name of readdirSync(run)) symlinkSync(join(run, name), join(links, name));
    for (const args of [
      ["replay", links],
      ["rescore", links, "--all"],
      ["explain", links, ...asked],
    ])
      expect(hone(args)).toMatchObject({ status: 2, said: expect.stringContaining("HONE_ERR_TRUST") });
    expect(marks()).toEqual([]);
  },
  patient(120_000),
);

native.each([
  ["verdicts.jsonl", (dir: string) => ["rescore", dir, "--trust", "--all"]],
  ["steps.jsonl", (dir: string) => CASES["run --dir"]!.args(dir)],
  ["events.jsonl", (dir: string) => CASES["run --dir"]!.args(dir)],
  ["report.html", (dir: string) => ["report", dir]],
  ["samples.index", (dir: string) => ["samples", dir]],
])(
  "%s of the folder that is a link to another file is not written through",
  (name, args) => {
    const dir = tampered(() => {});
    const victim = at("victim");
    writeFileSync(victim, existsSync(join(run, name)) ? readFileSync(join(run, name)) : "mine\n");
    const before = readFileSync(victim, "utf8");
    rmSync(join(dir, name), { force: true });
    symlinkSync(victim, join(dir, name));
    hone(args(dir));
    expect(readFileSync(victim, "utf8")).toBe(before);
  },
  patient(120_000),
);

native(
  "a recipe of the user's that names the same modules allows them, until one of them changes",
  () => {
    const { config } = read(join(run, "run.json"));
    writeFileSync(at("same.mjs"), `export default ${JSON.stringify(config)};`);
    const asked = CASES["explain folder"]!.args(run);
    expect(hone([...asked, "--recipe", at("mine.mjs")])).toMatchObject({
      status: 2,
      said: expect.stringContaining("HONE_ERR_TRUST"),
    });
    expect(hone([...asked, "--recipe", "same.mjs"]).status).toBe(0);
    expect(marks()).toEqual(["slopes"]);
    const before = readFileSync(at("source.mjs"), "utf8");
    writeFileSync(at("source.mjs"), `${before}\n// changed`);
    const { status, said } = hone(["replay", run, "--recipe", "same.mjs"]);
    writeFileSync(at("source.mjs"), before);
    expect(status).toBe(2);
    expect(said).toMatch(
      /domains\.words\.source: runs .*source\.mjs \(sha256 [0-9a-f]{64}; the record has sha256 [0-9a-f]{64}\)/,
    );
    expect(said).not.toContain("objective.slopes");
    expect(hone(["replay", run, "--recipe", "same.mjs"]).status).toBe(0);
  },
  patient(120_000),
);

native(
  "the page of a folder explains nothing by its module unless the command that serves it was told to trust it",
  async () => {
    const question = `/api/explain?run=0&step=2&problem=${step.problem}&attempt=${step.attempt}`;
    const ask = async (page: string) => {
      const url = new URL(page);
      return await fetch(new URL(`${question}&${url.searchParams}`, url));
    };
    const watching = async (...flags: string[]) => {
      const child = spawn(process.execPath, [...HONE, "watch", run, ...flags], {
        cwd: at(),
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
      return { url, [Symbol.dispose]: () => void child.kill("SIGTERM") };
    };
    {
      using page = await watching();
      const answer = await ask(page.url);
      expect(answer.status).toBe(403);
      expect(await answer.text()).toContain("objective.slopes: runs");
      expect(marks()).toEqual([]);
    }
    using page = await watching("--trust");
    expect((await ask(page.url)).status).toBe(200);
    expect(marks()).toEqual(["slopes"]);
    rmSync(at("marks", "slopes"));
    await using library = await LiveServer.open([run]);
    expect((await ask(library.url)).status).toBe(403);
    await using allowed = await LiveServer.open([run], { trust: Trust.alike([]) });
    expect((await ask(allowed.url)).status).toBe(403);
  },
  patient(120_000),
);

/** Records the requests and refuses each. */
async function listener(): Promise<{ server: Server; url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.headers.authorization ?? ""}`);
    response.writeHead(500).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

native(
  "a judge that the record names gets no key, and its cache no file",
  async () => {
    const { server, url, asked } = await listener();
    const judge = { url: `${url}/v1`, model: "m", apiKeyEnv: "HF_TOKEN", retries: 0, cache: at("cache") };
    const dir = tampered((config) => Object.assign(config.domains.math, { reward: { judge } }));
    const rescore = async (...flags: string[]) => {
      const child = spawn(
        process.execPath,
        [...HONE, "rescore", dir, "--all", "--domain", "math", ...flags],
        {
          cwd: at(),
          env: { ...process.env, ...SECRETS },
        },
      );
      let said = "";
      child.stderr.on("data", (text) => (said += text));
      await once(child, "close");
      return said;
    };
    const said = await rescore();
    expect(said).toContain(`domains.math.reward.judge: sends to ${url}/v1, with the key in HF_TOKEN`);
    expect(said).toContain(`domains.math.reward.judge.cache: writes ${at("cache")}`);
    expect(asked).toEqual([]);
    await rescore("--trust");
    expect(asked[0]).toBe("POST Bearer hf_secret"); // the request that the folder's server would have received
    server.close();
  },
  patient(120_000),
);

native(
  "a Python file, and a program in the place of Python, are not started unasked",
  () => {
    writeFileSync(at("theirs.py"), `open(${JSON.stringify(at("marks", "python"))}, "w")\n`);
    const bin = ["sh", "-c", `touch ${at("marks", "bin")}; python3 "$0"`];
    const sha256 = "0".repeat(64);
    const dir = tampered((config) => {
      Object.assign(config.domains.math, { reward: { python: `${at("theirs.py")}#f`, sha256 } });
      Object.assign(config, { python: { bin, env: ["HF_TOKEN"], processes: 1, timeoutSeconds: 9 } });
    });
    for (const { args, runs } of Object.values(CASES)) {
      if (runs === undefined || args(dir).length === 0) continue;
      const { status, said } = hone(args(dir));
      expect([status, marks()]).toEqual([2, []]);
      if (!runs.includes("reward")) continue;
      expect(said).toMatch(
        /domains\.math\.reward\.python: runs \S+theirs\.py \(sha256 [0-9a-f]{64}; the record has sha256 0{64}\)/,
      );
      expect(said).toContain("python.bin: starts sh -c touch");
      expect(said).toContain("python.env: gives modules HF_TOKEN of the environment");
    }
    hone(["rescore", dir, "--all", "--trust"]);
    expect(marks()).toEqual(expect.arrayContaining(["bin", "python"])); // the modules that would have run
  },
  patient(120_000),
);

native(
  "an evaluation's folder runs the verifier of its suite with --trust alone",
  () => {
    const mark = JSON.stringify(at("marks", "suite"));
    writeFileSync(at("rows.jsonl"), '{"q": "one"}\n{"q": "two"}\n');
    writeFileSync(
      at("suite.mjs"),
      `import { writeFileSync } from "node:fs"; writeFileSync(${mark}, "");
      export default { name: "mine", path: ${JSON.stringify(at("rows.jsonl"))}, read: ({ q }) => ({ question: q, reference: "x" }),
        verify: ({ text }) => ({ status: "wrong", score: 0, reason: text.slice(0, 3) }) };`,
    );
    const dir = at("evaluated");
    const made = hone(["eval", "--model", run, "--suite", "suite.mjs", "--max-tokens", "4", "--out", dir]);
    expect([made.status, marks()]).toEqual([0, ["suite"]]);
    rmSync(at("marks", "suite"));
    for (const args of [
      ["compare", dir, dir],
      ["traces", dir],
    ])
      hone(args);
    const { status, said } = hone(["rescore", dir, "--all"]);
    expect([status, marks()]).toEqual([2, []]);
    expect(said).toContain(`modules.mine: runs ${at("suite.mjs")} (sha256`);
    expect(hone(["rescore", dir, "--all", "--trust"]).status).toBe(0);
    expect(marks()).toEqual(["suite"]);
  },
  patient(120_000),
);
