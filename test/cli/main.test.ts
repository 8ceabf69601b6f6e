import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunSummary } from "../../lib/report/index.ts";
import { HONE } from "../fixtures/command-line.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { long } from "../long.ts";
import { folderWith, smallTokenizer } from "../native/small-tokenizer.ts";
import { patient } from "../patience.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-cli-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function hone(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...HONE, ...args], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

const RECIPE = `import { defineRecipe } from "hone-rl";
export default defineRecipe({
  name: "from-a-file",
  model: { config: { width: 32, layers: 1, heads: 1, mlpWidth: 64 } },
  domains: { math: { weight: 1, source: "procedural/math" } },
  rollouts: { maxOutputTokens: 40, maxPromptTokens: 64 },
  lengthPenalty: { bufferTokens: 20 },
  training: { steps: 1 as number, groupsPerStep: 4 },
});`;

function file(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

test("check loads a TypeScript recipe, applies overrides, tries data and verifiers", async () => {
  const { status, stdout } = await honeHere([
    "check",
    file("good.ts", RECIPE),
    "--set",
    "training.steps=7",
    "--json",
  ]);
  expect(status).toBe(0);
  const findings = JSON.parse(stdout) as {
    plan: { network: { parameters: number } };
    recipe: object;
    stages: { ok: boolean }[];
    domains: Record<string, object>;
  };
  expect(findings.recipe).toMatchObject({ name: "from-a-file", training: { steps: 7 } });
  // 226 × 32 embedding, tied; 4 × 32 × 32 attention, 3 × 32 × 64 MLP, 3 norms of 32
  expect(findings.plan.network.parameters).toBe(226 * 32 + 4 * 32 * 32 + 3 * 32 * 64 + 3 * 32);
  expect(findings.stages.every(({ ok }) => ok)).toBe(true);
  expect(findings.domains["math"]).toMatchObject({ questions: { length: 3 }, verifiers: ["residue"] });
});

test("generate refuses a seed and a length that are no whole numbers", async () => {
  const asked = (...flags: string[]) =>
    honeHere(["generate", "--model", join(dir, "none"), "--prompt", "a", ...flags]);
  for (const [flag, text] of [
    ["--seed", "1.5"],
    ["--seed", "-1"],
    ["--seed", "18446744073709551616"],
    ["--max-tokens", "3.5"],
  ]) {
    const { status, stderr } = await asked(flag!, text!);
    expect(stderr).toBe(`HONE_ERR_USAGE  ${flag} is "${text}", not a whole number below 2^64\n`);
    expect(status).toBe(2);
  }
});

test("JavaScript that does not parse is named with its line, and files that are neither data nor a script as such", () => {
  file("half.mjs", "export const a = {");
  const said = [
    hone("check", file("broken.mjs", "export default {\n  name: 3,\n")),
    hone("check", file("imports.mjs", "import './half.mjs'; export default {};")),
    hone("check", file("recipe.toml", "name: x")),
    hone("data", "check", join(dir, "recipe.toml")),
  ];
  const text = said.map(({ status, stderr }) => `${status} ${stderr}`.replaceAll(`${dir}/`, "")).join("");
  expect(text).toMatch(/^2 HONE_ERR_USAGE {2}broken.mjs, line 3: Unexpected end of input\n2 HONE_ERR_USAGE/);
  expect(text).toMatch(/\n2 HONE_ERR_USAGE {2}imports.mjs, or a module that it imports: Unexpected end/);
  expect(text).toMatch(/\n2 HONE_ERR_USAGE {2}recipe.toml is no recipe\n {2}hint: A recipe is a .ts/);
  expect(text).toMatch(
    /\n4 HONE_ERR_DATA {2}recipe.toml holds no data file\n {2}hint: Data files end in .json,/,
  );
});

test("a verifier of one's own is named by path as a reward is, and what is no place is refused as such", async () => {
  file(
    "any.mjs",
    "export default { verify: ({ text }) => ({ status: text ? 'correct' : 'no_answer', score: text ? 1 : 0, reason: '' }) };",
  );
  const rows = file("rows.jsonl", '{"question": "a", "reference": "b"}\n'.repeat(2).replace("a", "c"));
  const path = file(
    "own.mjs",
    RECIPE.replace('import { defineRecipe } from "hone-rl";', "")
      .replace("defineRecipe(", "(")
      .replace(" as number", "")
      .replace(
        'source: "procedural/math"',
        `source: { kind: "jsonl", path: ${JSON.stringify(rows)}, verifier: "any" }`,
      ),
  );
  const modules = (place: string) => ["--set", `verification.modules.any=${place}`];
  const good = await honeHere(["check", path, ...modules(join(dir, "any.mjs"))]);
  expect(good.stderr + good.stdout).toMatch(/^✓ one step .*rollouts judged/m);
  const bad = await honeHere(["check", path, ...modules("any.mjs")]);
  expect([bad.status, bad.stderr]).toEqual([
    2,
    'HONE_ERR_CONFIG  --set: 1 problem(s)\n  verification.modules.any: is "any.mjs"; it must be a module by path: "./mine.ts", or file:///...\n',
  ]);
});

test("plan takes a model by its name or folder, where there is no recipe", async () => {
  const named = await honeHere(["plan", "Qwen/Qwen3-0.6B", "--gpu-memory", "80GiB"]);
  expect([named.status, named.stderr]).toEqual([0, ""]);
  expect(named.stdout).toContain("596,049,920 parameters on GPU, 80.0 GiB each");
  expect(named.stdout).toContain("Planned as on one card");
  const folder = join(dir, "model");
  mkdirSync(folder);
  const config = { model_type: "qwen3", hidden_size: 64, num_hidden_layers: 2, num_attention_heads: 2 };
  const sizes = { head_dim: 32, num_key_value_heads: 1, intermediate_size: 128, vocab_size: 512 };
  const rest = {
    max_position_embeddings: 32_768,
    rms_norm_eps: 1e-6,
    rope_theta: 1e6,
    tie_word_embeddings: true,
  };
  writeFileSync(join(folder, "config.json"), JSON.stringify({ ...config, ...sizes, ...rest }));
  const published = JSON.parse(readFileSync("test/fixtures/models/published.json", "utf8"));
  const hybrid = join(dir, "hybrid");
  mkdirSync(hybrid);
  writeFileSync(
    join(hybrid, "config.json"),
    JSON.stringify(published["tiiuae/Falcon-H1-0.5B-Instruct"].config),
  );
  const onCpu = await honeHere(["plan", hybrid]);
  expect(onCpu.stdout).toMatch(/parameters on CPU/);
  expect(onCpu.stdout).toMatch(/A GPU cannot run it: .*Mamba-2.*\n\nPlanned on the CPU,/);
  const settings = ["--gpu-memory", "8GiB", "--set", "lora.rank=4", "--json"];
  const own = await honeHere(["plan", folder, ...settings]);
  expect([own.status, own.stderr]).toEqual([0, ""]);
  const { network, capacity } = JSON.parse(own.stdout) as {
    network: { layers: number };
    capacity: number;
  };
  expect([network.layers, capacity]).toEqual([2, 8 * 2 ** 30]);
  const tight = await honeHere(["plan", "Qwen/Qwen3-8B", "--gpu-memory", "24GiB"]);
  expect(tight.status).not.toBe(0);
  expect(tight.stdout).toContain("--set lora.rank=16");
  const unknown = await honeHere(["plan", "absent/nothing"]);
  expect([unknown.status, unknown.stdout]).toEqual([3, ""]);
  expect(unknown.stderr).toContain("absent/nothing is no folder (looked for ");
});

test("a bad recipe shows every issue and exits 2", async () => {
  const bad = RECIPE.replace("bufferTokens: 20", "bufferTokens: 99").replace("layers: 1", "layer: 1");
  const { status, stderr } = await honeHere(["check", file("bad.ts", bad)]);
  expect(status).toBe(2);
  expect(stderr).toContain("did you mean layers?");
});

test.each([
  ["no such file", ["check", "/nowhere/recipe.ts"], 2, "there is no recipe at /nowhere/recipe.ts"],
  ["no such verb", ["trane"], 2, "unknown command"],
  ["no such option", ["run", "x.ts", "--sett", "a=b"], 2, "--set"],
  [
    "no such mode",
    ["verify", "--domain", "math", "--file", "x", "--compat", "loose"],
    2,
    "strict, reference",
  ],
  ["no such domain", ["verify", "--domain", "maths", "--file", "x"], 2, "Known domains: math"],
  ["no cases", ["verify", "--domain", "math", "--file", "/nowhere.jsonl"], 3, "/nowhere.jsonl"],
  ["no run to rescore", ["rescore", "/nowhere"], 3, "/nowhere: not a run folder"],
  ["no run to replay", ["replay", "/nowhere"], 3, "/nowhere: not a run folder"],
])("%s: exit %s", async (_, args, code, message) => {
  const { status, stderr } = await honeHere(args);
  expect(status).toBe(code);
  expect(stderr).toContain(message);
});

const ENDS: readonly (readonly [what: string, penalty: string, code: number])[] = [
  ["trains nothing ends with 4 and says so", "none", 4],
  ["trains on something ends with 0", "lp", 0],
];
test.each(long ? ENDS : ENDS.slice(0, 1))(
  "a run that %s",
  (_, penalty, code) => {
    // an untrained model answers everything wrong: without a length penalty no group has a difference to learn from
    const recipe = file("nothing.ts", RECIPE);
    const settings = [
      `lengthPenalty.kind=${penalty}`,
      "advantages.filter=reward",
      "evaluation.problemsPerDomain=2",
      "training.steps=2",
    ].flatMap((setting) => ["--set", setting]);
    const run = join(dir, `nothing-${penalty}`);
    const { status, stdout } = hone("run", recipe, "--dir", run, ...settings);
    expect([status, stdout]).toEqual([code, expect.stringContaining("report: ")]);
    expect(stdout.includes("warning: 0 of 2 steps changed the weights")).toBe(code === 4);
    const { changedSteps } = JSON.parse(readFileSync(join(run, "summary.json"), "utf8")) as RunSummary;
    expect(changedSteps === 0).toBe(code === 4);
  },
  patient(60_000),
);

test("a folder that holds a run is not overwritten by accident", async () => {
  const runs = join(dir, "old");
  mkdirSync(join(runs, "checkpoints"), { recursive: true });
  const { status, stderr } = await honeHere(["run", file("again.ts", RECIPE), "--dir", runs]);
  expect(status).toBe(2);
  expect(stderr).toContain("--resume");
});

test("verify prints a verdict a line, counts on stderr, and exits 4 when a line is no case", async () => {
  const rows = ['{"gold":"1/2","response":"\\\\boxed{0.5}"}', "{}", '{"gold":"7","response":"none"}'];
  const cases = file("cases.jsonl", rows.join("\n"));
  const { status, stdout, stderr } = await honeHere(["verify", "--domain", "math", "--file", cases]);
  expect(status).toBe(4);
  const verdicts = stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { status: string }).status);
  expect(verdicts).toEqual(["correct", "unscored", "no_answer"]);
  expect(stderr).toMatch(/3 judged in .* s: 1 correct, 1 unscored, 1 no_answer\n.*cases\.jsonl:2: math case/);
  expect(stderr).toContain("1 of 3 rows unscored");
});

test.runIf(long)("verify gives partial credit where the reference does", async () => {
  const entry = {
    id: "parallel_0",
    function: [{ name: "f", parameters: { properties: { a: { type: "integer" } }, required: ["a"] } }],
    ground_truth: [{ f: { a: [1] } }, { f: { a: [2] } }],
  };
  const calls = [1, 3].map((a) => ({ name: "f", arguments: { a } }));
  const row = { entry, response: `<tool_calls>${JSON.stringify(calls)}</tool_calls>` };
  const cases = file("half.jsonl", JSON.stringify(row));
  const run = (compat: string) =>
    honeHere(["verify", "--domain", "function-calling", "--compat", compat, "--file", cases]);
  const { status, stdout } = await run("reference");
  expect([status, JSON.parse(stdout)]).toMatchObject([0, { status: "wrong", score: 0.5 }]);
  expect(JSON.parse((await run("strict")).stdout)).toMatchObject({ status: "wrong", score: 0 });
});

const BOX = '{"gold":"7","response":"\\\\boxed{7}"}';
const PROGRAM = JSON.stringify({
  problem: { input_output: { inputs: ["1\n"], outputs: ["1\n"] } },
  response: "```python\nprint(input())\n```",
});
const UNSCORED: readonly [string, string, string, Record<string, string>, RegExp][] = [
  ["an empty gold", "math", '{"gold":"","response":"7"}', {}, /nothing to compare with/],
  [
    "an empty list of calls",
    "function-calling",
    '{"entry":{"id":"parallel_0","function":[],"ground_truth":[]},"response":"7"}',
    {},
    /needs `ground_truth`/,
  ],
  [
    "no constraint",
    "instruction-following",
    '{"instruction_id_list":[],"kwargs":[],"response":"7"}',
    {},
    /instruction_id_list/,
  ],
  ["no letter", "choice", '{"gold":"","response":"7"}', {}, /answer: Invalid string/],
  [
    "no test",
    "code",
    '{"problem":{"input_output":{"inputs":[],"outputs":[]}},"response":"7"}',
    {},
    /0 inputs and 0 outputs/,
  ],
  ["an unknown sandbox", "code", PROGRAM, { HONE_SANDBOX: "jail" }, /HONE_SANDBOX is "jail"; known: /],
];
test.each(long ? UNSCORED : UNSCORED.filter(([what]) => /empty gold|sandbox/.test(what)))(
  "a row that %s leaves without a score makes the exit code 4, also with --json",
  async (_, domain, row, env, cause) => {
    const cases = file("unscored.jsonl", domain === "math" ? `${BOX}\n${row}` : row);
    const args = ["verify", "--domain", domain, "--file", cases, "--json"];
    const { status, stdout, stderr } = await honeHere(args, env);
    expect(status).toBe(4);
    expect(stdout).toContain('"unscored"');
    expect(stderr).toMatch(/1 of [12] rows unscored/);
    expect(stderr).toMatch(cause);
  },
);

test("doctor prints one block with versions, kernels, threads, CUDA and NCCL or why not", () => {
  const { status, stdout } = hone("doctor");
  expect(stdout).toMatch(/^hone +\d/m);
  expect(stdout).toMatch(/^node +v\d/m);
  if (status === 0) {
    expect(stdout).toMatch(/^core .*kernels \w+, \d+ threads$/m);
    expect(stdout).toMatch(/^gpus /m);
    expect(stdout).toMatch(/^nccl /m);
  } else {
    expect(status).toBe(3);
    expect(stdout).toContain("hint:");
  }
});

test("tokenize writes ids and their text, a line for a line", async () => {
  const model = folderWith({ "tokenizer.json": smallTokenizer() });
  const rows = [{ text: "he the" }, { text: "e\u0301\u2028</s>", other: 1 }];
  const texts = file("texts.jsonl", `${rows.map((row) => JSON.stringify(row)).join("\n")}\n\n`);
  const run = async (...more: string[]) => {
    const { status, stdout } = await honeHere(["tokenize", "--model", model, "--file", texts, ...more]);
    return {
      status,
      rows: stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as object),
    };
  };
  const second = { ids: [0xc3, 0xa9, 0xe2, 0x80, 0xa8, 260], text: "\u00e9\u2028</s>" };
  expect(await run("--no-special")).toEqual({
    status: 0,
    rows: [{ ids: [256, 258], text: "he the" }, second],
  });
  expect(await run()).toEqual({
    status: 0,
    rows: [
      { ids: [259, 256, 258], text: "<s>he the" },
      { ids: [259, ...second.ids], text: `<s>${second.text}` },
    ],
  });
  const noText = file("bad.jsonl", '{"text": "a"}\n{"txt": 1}\n');
  const bad = await honeHere(["tokenize", "--model", model, "--file", noText]);
  expect([bad.status, bad.stderr]).toEqual([
    4,
    expect.stringContaining('bad.jsonl:2: {"txt":1} has no "text"'),
  ]);
  rmSync(model, { recursive: true });
});

test("schema prints a JSON Schema, version the version", async () => {
  expect(JSON.parse((await honeHere(["schema"])).stdout)).toMatchObject({ type: "object" });
  expect(hone("--version").stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

// tsx, which runs the sources when dist/ is stale, cannot start under these limits.
test.skipIf(HONE[0] === "--import").each([20, 40, 64])(
  "where %d files may be open, it says so instead of losing itself among imports",
  (files) => {
    const command = `ulimit -n ${files}; exec "$0" "$@"`;
    const { status, stderr } = spawnSync("bash", ["-c", command, process.execPath, ...HONE, "--version"], {
      encoding: "utf8",
    });
    expect(status).toBe(3);
    expect(stderr).toMatch(/^HONE_ERR_IO {2}this process may open only \d+ files.*\n {2}hint: .*ulimit -n/);
  },
);

test.skipIf(HONE[0] === "--import").each([1_000_000, 2_000_000])(
  "where %d KiB of addresses may be used, it says so instead of being ended by V8",
  (kib) => {
    const command = `ulimit -v ${kib}; exec "$0" "$@"`;
    const { status, stderr } = spawnSync("bash", ["-c", command, process.execPath, ...HONE, "--version"], {
      encoding: "utf8",
    });
    expect(status).toBe(3);
    expect(stderr).toMatch(
      /^HONE_ERR_OUT_OF_MEMORY {2}this process may use \d\.\d GiB.*\n {2}hint: .*ulimit -v/,
    );
  },
);
