// `hone init` as a new user types it: `hone check` accepts the file that it writes, and the file trains.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readRunLog } from "../../lib/metrics/index.ts";
import { HONE } from "../fixtures/command-line.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { StandInHub } from "../fixtures/hub-server.ts";
import { tinyConfig, tinyModel, writeModelFiles } from "../fixtures/model-folder.ts";
import { noAddon } from "./native-core.ts";

vi.setConfig({ testTimeout: 150_000 });

const folder = mkdtempSync(join(fileURLToPath(new URL("../../", import.meta.url)), "build", "init-"));
const at = (...names: string[]) => join(folder, ...names);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rows = (row: (n: number) => object) =>
  `${Array.from({ length: 120 }, (_, n) => JSON.stringify(row(n))).join("\n")}\n`;
const SUMS = rows((n) => ({ question: `What is ${n} + 7?`, answer: String(n + 7) }));

beforeAll(async () => {
  if (noAddon !== undefined) return;
  await tinyModel(at("model"));
  writeModelFiles(at("model"));
  writeFileSync(at("sums.jsonl"), SUMS);
  writeFileSync(
    at("prompts.jsonl"),
    rows((n) => ({ prompt: `say ${n}` })),
  );
  writeFileSync(
    at("rewards.py"),
    "def digits(completions, **kwargs):\n    return [sum(c.isdigit() for c in one) / max(6, len(one)) for one in completions]\n",
  );
});

async function hone(args: readonly string[], environment?: Record<string, string>) {
  const { status, stdout, stderr } = await honeHere(args, environment, folder);
  return { status, said: `${stdout}${stderr}` };
}
const native = test.skipIf(noAddon !== undefined);
const FEW = [
  "--set",
  "training.steps=2",
  "--set",
  "training.groupsPerStep=2",
  "--set",
  "rollouts.maxOutputTokens=8",
  "--set",
  "evaluation.problemsPerDomain=4",
];

const PROMPTS_ALONE = ["--model", "model", "--data", "prompts.jsonl", "--reward", "rewards.py"];

/** Runs init, then the commands that it suggests. */
async function firstMinutes(file: string, flags: readonly string[], environment?: Record<string, string>) {
  rmSync(at(file), { force: true }); // an earlier try of this test may have left the file
  const wrote = await hone(["init", file, ...flags], environment);
  expect([wrote.status, wrote.said]).toEqual([
    0,
    expect.stringMatching(new RegExp(`npx hone check ${file}\nnpx hone run ${file}\n$`)),
  ]);
  const text = readFileSync(at(file), "utf8");
  expect(text.split("\n").length).toBeLessThanOrEqual(16); // the last line is empty
  const checked = await hone(["check", file], environment);
  expect([checked.status, checked.said]).toEqual([0, expect.any(String)]);
  const ran = await hone(["run", file, ...FEW], environment);
  expect(ran.said).toMatch(/step=2 /);
  return { text, said: wrote.said, ran };
}

native("rows with answers: the verifier that reads them, prompts in the model's tokens", async () => {
  const { text, said } = await firstMinutes("sums.ts", ["--model", "model", "--data", "sums.jsonl"]);
  expect(text).toContain(
    'domains: { math: { source: { kind: "jsonl", path: "sums.jsonl", template: "{task}\\n\\nPut your final answer in \\\\boxed{}." } } },',
  );
  expect(said).toMatch(
    /120 of the first 120 can be used, from question and answer; judged by the verifier math/,
  );
  const longest = Number(/prompts up to (\d+) tokens\n/.exec(said)![1]);
  // at most as many tokens as "[user]What is 112 + 7? Put …</s>\n[assistant]" has bytes and special tokens
  expect(longest).toBeGreaterThan(10);
  expect(longest).toBeLessThanOrEqual(90);
  expect(text).toMatch(/maxPromptTokens: 128 /);
});

native(
  "rows with prompts alone and a Python reward, as YAML: the whole run learns, at a rate for weights that are drawn at random",
  async () => {
    const { text } = await firstMinutes("digits.yaml", PROMPTS_ALONE);
    expect(text).toContain('reward: { python: "rewards.py#digits" }');
    const short = [
      "--set",
      "rollouts.maxOutputTokens=6",
      "--set",
      "evaluation.problemsPerDomain=4",
      "--set",
      "optimizer.lr=5e-3",
    ];
    const ran = await hone(["run", "digits.yaml", "--dir", "runs/whole", ...short]);
    expect([ran.status, ran.said]).toEqual([
      0,
      expect.stringMatching(/left at their defaults: .*optimizer\.warmupSteps 4/),
    ]);
    const scores = readRunLog(at("runs/whole/steps.jsonl")).map(({ metrics }) => metrics["score/mean"] ?? 0);
    expect(scores).toHaveLength(40);
    const mean = (some: readonly number[]) => some.reduce((sum, one) => sum + one, 0) / some.length;
    expect(mean(scores.slice(-8))).toBeGreaterThan(1.5 * mean(scores.slice(0, 8)));
  },
);

native("the same as JSON", async () => {
  const { text } = await firstMinutes("again.json", PROMPTS_ALONE);
  expect(JSON.parse(text)).toMatchObject({
    $schema: expect.stringMatching(/recipe\.schema\.json$/),
    domains: { mine: { reward: { python: "rewards.py#digits" } } },
  });
});

native("data and model by their names on the Hub", async () => {
  const files = Object.fromEntries(
    readdirSync(at("model")).map((name) => [name, readFileSync(at("model", name))]),
  );
  // without the weights `hone check` counts a token per byte, which needs more positions
  const config = JSON.stringify(tinyConfig({ max_position_embeddings: 2048 }));
  const hub = new StandInHub({ ...files, "config.json": config, "data/train.jsonl": SUMS });
  await using _ = hub;
  const environment = { HF_ENDPOINT: await hub.listen(), HF_HOME: at("cache") };
  const flags = ["--model", "org/tiny", "--data", "hf:org/tiny:train"];
  const { text } = await firstMinutes("hub.ts", flags, environment);
  expect(text).toContain('path: "hf:org/tiny:train"');
});

native(
  "nothing is overwritten, and what is missing or wrong is told before anything is written",
  async () => {
    writeFileSync(at("mine.ts"), "mine");
    const asked = { role: "user", content: "1 + 1?" };
    const recorded = JSON.stringify({ messages: [asked, { role: "assistant", content: "#### 2" }] });
    writeFileSync(at("recorded.jsonl"), recorded);
    writeFileSync(at("commas.jsonl"), `${recorded},\n${recorded},\n`);
    expect(await hone(["init", "mine.ts", "--model", "model", "--data", "sums.jsonl"])).toMatchObject({
      status: 2,
      said: expect.stringContaining("mine.ts exists, and hone init overwrites no file") as string,
    });
    expect(readFileSync(at("mine.ts"), "utf8")).toBe("mine");
    const refused: [string[], number, RegExp][] = [
      [[], 2, /init needs --model --data/],
      [
        ["--model", "model", "--data", "prompts.jsonl"],
        2,
        /a verifier of this package can judge none of \d+ rows: .* bad \(row: neither reference nor answer: .* --reward rewards\.py#name/s,
      ],
      [
        ["--model", "model", "--data", "recorded.jsonl"],
        2,
        /a map makes them references: .*at\(-1\)\.content/,
      ],
      [
        ["--model", "model", "--data", "commas.jsonl"],
        4,
        /none of 2 rows can be used\n.*not JSON: a comma after the row: 2, first commas\.jsonl:1/,
      ],
      [["--model", "model", "--data", "none.jsonl"], 4, /there is no data at none\.jsonl/],
      [["--model", "nowhere", "--data", "sums.jsonl"], 3, /there is no folder/],
      [["--model", "model", "--data", "sums.jsonl", "--reward", "maths"], 2, /neither a verifier nor/],
      [["--model", "model", "--data", "sums.jsonl", "--reward", "no.py"], 2, /there is no no\.py/],
    ];
    for (const [flags, status, message] of refused) {
      const { said, ...ended } = await hone(["init", "new.ts", ...flags]);
      expect([ended.status, said]).toEqual([status, expect.stringMatching(message)]);
    }
    expect(existsSync(at("new.ts"))).toBe(false);
  },
);

const TERMINAL = `
import os, pty, signal, sys
pid, fd = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
questions = [(b"Model,", b"model\\n"), (b"Data,", b"prompts.jsonl\\n"), (b"Reward,", b"rewards.py#digits\\n")]
said = b""
signal.alarm(100)
while True:
    try: part = os.read(fd, 4096)
    except OSError: break
    if not part: break
    said += part
    if questions and questions[0][0] in said: os.write(fd, questions.pop(0)[1])
sys.stdout.buffer.write(said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

native("at a terminal it asks for what no flag says", async () => {
  rmSync(at("asked.ts"), { force: true });
  const words = ["-c", TERMINAL, process.execPath, ...HONE, "init", "asked.ts"];
  const { status, stdout } = spawnSync("python3", words, { cwd: folder, encoding: "utf8" });
  expect([status, stdout]).toEqual([
    0,
    expect.stringMatching(/Model.*Data.*Reward.*npx hone run asked\.ts/s),
  ]);
  expect(readFileSync(at("asked.ts"), "utf8")).toContain('reward: { python: "rewards.py#digits" }');
});
