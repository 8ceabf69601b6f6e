// Functions of Python files in the judging pool: published forms compared with direct calls in Python, and every way in
// which a function fails.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import type { Verdict } from "../../../lib/records.ts";
import type { VerifierPool } from "../../../lib/rewards/index.ts";
import type { PythonCall } from "../../../lib/rewards/python/python-call.ts";
import { pythonCall, pythonFolder, pythonPool, type Row, request } from "../../fixtures/python-pool.ts";

vi.setConfig({ testTimeout: 120_000 });

const folder = pythonFolder();
afterAll(() => rmSync(folder, { recursive: true }));
const TRL = join(folder, "trl_rewards.py");
const VERL = join(folder, "verl_rewards.py");
const FAULTY = join(folder, "faulty_rewards.py");

/** Functions without side effects on their process share one. Each is called like "trl_rewards.py#accuracy_reward". */
const SHARED: Record<string, PythonCall> = {};
const named = (file: string, name: string, more: Partial<PythonCall> = {}): string => {
  const verifier = `${basename(file)}#${name}${more.completions ?? ""}${more.command ?? ""}`;
  SHARED[verifier] = pythonCall(file, name, more);
  return verifier;
};
for (const file of [TRL, VERL, FAULTY])
  for (const [, name, object] of readFileSync(file, "utf8").matchAll(/^(?:async )?def (\w+)|^(scaled) =/gm))
    named(file, name ?? object!);
const shared = (): VerifierPool => {
  pool ??= pythonPool(SHARED);
  return pool;
};
let pool: VerifierPool | undefined;
afterAll(() => pool?.close());
afterEach(() => void vi.restoreAllMocks());

const judge = (verifier: string, rows: readonly Row[], by = shared()): Promise<Verdict[]> =>
  by.verify(rows.map((row) => request(verifier, row)));
const scores = async (...args: Parameters<typeof judge>) => (await judge(...args)).map(scoreOf);

const scoreOf = (verdict: Verdict | undefined) =>
  verdict?.status === "unscored" ? verdict.cause : verdict?.score;

/** Calls the function in Python directly with these keyword arguments. */
function called(file: string, name: string, given: object): unknown {
  const script = `import asyncio, importlib.util, inspect, json, sys
spec = importlib.util.spec_from_file_location("m", sys.argv[1]); m = importlib.util.module_from_spec(spec); spec.loader.exec_module(m)
found = getattr(m, sys.argv[2])(**json.loads(sys.stdin.read()))
print(json.dumps(asyncio.run(found) if inspect.iscoroutine(found) else found))`;
  const { stdout, stderr } = spawnSync("python3", ["-c", script, file, name], {
    input: JSON.stringify(given),
    encoding: "utf8",
  });
  expect(stdout, stderr).not.toBe("");
  return JSON.parse(stdout);
}

const TEXTS = [
  "<think>\n2 + 2\n</think>\n<answer>\n\\boxed{4}\n</answer>",
  "the answer is \\boxed{5}, is \\boxed{5}, is \\boxed{5}, is \\boxed{5}",
  "\\boxed{5} no: \\boxed{ 4 }",
  "<think>\n</think>",
  "",
  "é\u{1f600} \\boxed{4}".repeat(9),
];

test.each([
  "accuracy_reward",
  "format_reward",
  "tag_count_reward",
  "cosine_scaled_reward",
  "repetition_penalty",
  "served_reward",
  "scaled",
])("TRL's signature: %s gives what Python gives", async (name) => {
  const verifier = `trl_rewards.py#${name}`;
  const found = await scores(
    verifier,
    TEXTS.map((text) => ({ text, reference: { answer: "4" } })),
  );
  const expected = called(TRL, name, { completions: TEXTS, answer: TEXTS.map(() => "4") }) as number[];
  expect(found).toEqual(expected.map((value) => value + 0)); // + 0 turns -0 into 0
  expect(new Set(expected).size).toBeGreaterThan(1);
  expect(shared().stats()[verifier]).toMatchObject({ calls: 6, judged: 6, unscored: 0, retries: 0 });
});

const DEFAULT = named(VERL, "");
const WORDS = named(TRL, "prompt_words", { completions: "text" });
const FORMAT = named(TRL, "format_reward", { completions: "messages" });

test("a conversation's completions are turns, or what the recipe says; the prompt is the row's", async () => {
  const messages = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "one two three" },
  ];
  const row = { messages, text: "a", prompt: "Be brief.\n\none two three" };
  expect(await scores("trl_rewards.py#prompt_words", [row])).toEqual([3]);
  expect(await scores(WORDS, [row])).toEqual([5]);
  expect(await scores(FORMAT, [{ text: TEXTS[0]! }])).toEqual([1]);
});

test("a function that reads completions of the other form is told how to get it", async () => {
  const messages = [{ role: "user", content: "one" }];
  const read = async (name: string, row: Row) =>
    String((await scores(`faulty_rewards.py#${name}`, [row]))[0]);
  const texts =
    /in (?:reads_messages|<listcomp>)\); completions are texts here; completions: "messages" beside/;
  for (const text of ["a", ""]) expect(await read("reads_messages", { text })).toMatch(texts);
  for (const name of ["reads_texts", "searches_texts"])
    expect(await read(name, { text: "x", messages })).toMatch(
      /lists of messages here; completions: "text" beside/,
    );
  expect(await read("adds_wrongly", { text: "x" })).toMatch(
    /unsupported operand type.*in (?:adds_wrongly|<listcomp>)\)$/,
  );
});

test("a reward that runs programs, and one of token ids", async () => {
  const code = (body: string) => `So:\n\`\`\`python\n${body}\n\`\`\``;
  const texts = [code("print(int(input()) * 2)"), code("print(1)"), code("raise SystemExit(1)"), "no code"];
  const reference = { stdin: "21\n", stdout: "42" };
  expect(
    await scores(
      "trl_rewards.py#code_reward",
      texts.map((text) => ({ text, reference })),
    ),
  ).toEqual([1, 0, 0, 0]);
  // 0 up to 4 tokens, then 0.25 less for each token
  const rows = [0, 4, 5, 7, 8, 20].map((length) => ({ text: "x", ids: Array.from({ length }, (_, i) => i) }));
  expect(await scores("trl_rewards.py#soft_overlong_punishment", rows)).toEqual([0, 0, -0.25, -0.75, -1, -1]);
});

test("trainer_state has the steps done, for the function that names it; outside a run it says so", async () => {
  const verifier = "trl_rewards.py#late_bonus";
  expect(await scores(verifier, [{ text: "x", version: 10 }])).toEqual([0.25]);
  expect(await scores(verifier, [{ text: "x" }])).toEqual([
    expect.stringMatching(
      /AttributeError: trainer_state has no global_step here.*\(trl_rewards\.py:\d+, in /,
    ),
  ]);
});

test("verl's signature: a number, a dict with score, async; one that raises costs its own completion alone", async () => {
  const reference = { data_source: "openai/gsm8k", ground_truth: "42", extra_info: { index: 7 } };
  const rows = ["so #### 42", "so #### 41"].map((text) => ({ text, reference }));
  expect(await scores(DEFAULT, rows)).toEqual([1, -1]);
  expect(shared().stats()[DEFAULT]!.about).toMatch(
    /^compute_score\(data_source, solution_str, ground_truth, extra_info=None\) of verl_rewards\.py, called as verl does, Python 3\.\d+\.\d+ at \//,
  );
  expect(await scores("verl_rewards.py#async_score", rows)).toEqual([1, 0]);
  const answers = ["abc", "raise", ""].map((text) => ({ text, reference: { answer: "42" } }));
  expect(await scores("verl_rewards.py#plain_score", answers)).toEqual([
    1,
    expect.stringMatching(/^KeyError: 'raise' \(verl_rewards\.py:\d+, in plain_score\)$/),
    -2,
  ]);
  expect((await scores("verl_rewards.py#no_score", rows))[0]).toBe(
    "the reward returned a dict without score: {'acc': 1.0}",
  );
});

test("verl's batch manager: one call with lists", async () => {
  const reference = { data_source: "openai/gsm8k", ground_truth: "42", extra_info: { index: 7 } };
  const rows = ["so 42", "so 41"].map((text) => ({ text, reference }));
  expect(await scores("verl_rewards.py#batch_score", rows)).toEqual([1.5, -1]);
  expect(shared().stats()["verl_rewards.py#batch_score"]!.about).toContain(
    "called as verl's batch manager does",
  );
});

test("what a file keeps between its calls stays usable: all are made in one event loop", async () => {
  for (const problem of [0, 1, 2])
    expect(await scores("trl_rewards.py#keeps_a_client", [{ text: "x", problem }])).toEqual([1]);
});

test("None is no reward and is not asked again; text, NaN and infinity are none either", async () => {
  const texts = ["a", "nan", "inf", "text", "none", "true", "list"];
  const verdicts = await judge(
    "faulty_rewards.py#odd_values",
    texts.map((text) => ({ text })),
  );
  expect(verdicts.map(scoreOf)).toEqual([
    0.25,
    "the reward returned float nan, not a finite number",
    "the reward returned float -inf, not a finite number",
    "the reward returned str '0.5', not a finite number",
    "the reward does not apply: the function returned None for this completion",
    1,
    "the reward returned list [1], not a finite number",
  ]);
  expect(verdicts[4]).toMatchObject({ status: "unscored", notApplicable: true });
  expect(shared().stats()["faulty_rewards.py#odd_values"]).toMatchObject({ unscored: 5, retries: 4 });
});

test.each([
  ["raises", "ValueError: no number in the answer (faulty_rewards.py:LINE, in raises)", /raise ValueError/],
  [
    "raises_below",
    "ZeroDivisionError: division by zero (faulty_rewards.py:LINE, in raises_below)",
    /HELPER\(c/,
  ],
  ["exits", "SystemExit: 3 (faulty_rewards.py:LINE, in exits)", /sys\.exit/],
  ["too_few", "too_few returned 1 rewards for 2 completions", /^/],
  ["not_a_list", "not_a_list returned float 0.5, not a list of 2 rewards", /^/],
  ["asks_for_more", "asks_for_more asks for rubric, and the rows have prompts, completions", /^/],
])("%s: unscored, with the cause", async (name, said, line) => {
  const number =
    readFileSync(FAULTY, "utf8")
      .split("\n")
      .findIndex((one) => line.test(one)) + 1;
  const verdicts = await judge(`faulty_rewards.py#${name}`, [{ text: "a" }, { text: "b" }]);
  const cause = `the reward failed: ${said.replace("LINE", String(number))}`;
  expect(verdicts).toEqual(["a", "b"].map(() => ({ status: "unscored", cause })));
  const stats = shared().stats()[`faulty_rewards.py#${name}`];
  expect(stats).toMatchObject({ retries: 2, unscored: 2, crashes: 0 });
});

test("an exception costs the group that it is about, and no other", async () => {
  const rows = ["a", "b", "x", "c", "d", "e"].map((text, i) => ({ text, problem: Math.floor(i / 2) }));
  const verdicts = await judge("faulty_rewards.py#raises_on_x", rows);
  expect(verdicts.map(({ status }) => status === "unscored")).toEqual([
    false,
    false,
    true,
    true,
    false,
    false,
  ]);
});

test.each([
  [named(join(folder, "no_such.py"), "reward"), /no_such\.py is not there; Python 3/],
  [named(FAULTY, "missing"), /has no missing; its functions are raises, .*; Python 3\.\d+\.\d+ at \//],
  [named(FAULTY, "not_callable"), /not_callable of .* is dict \{'a': 1\}, not a function/],
  [named(FAULTY, "NotAFunction"), /is type <class '.*NotAFunction'>, not a function/],
  [named(FAULTY, ""), /name the function after #; .*faulty_rewards\.py has raises, /],
  [
    "faulty_rewards.py#strange",
    /strange\(text, gold\) takes neither TRL's parameters \(prompts, completions, \.\.\.\) nor verl's/,
  ],
  [
    named(join(folder, "unimportable.py"), ""),
    /ModuleNotFoundError: No module named 'a_module_that_is_not_installed' \(unimportable\.py:1, in <module>\); Python 3/,
  ],
  [named(join(folder, "broken_syntax.py"), ""), /SyntaxError: .* \(broken_syntax\.py:1\); Python 3/],
  [
    named(TRL, "format_reward", { command: ["no-such-python"] }),
    /no-such-python cannot be started: spawn no-such-python ENOENT/,
  ],
  [named(TRL, "format_reward", { command: ["false"] }), /the Python process ended \(exit code 1\)/],
  [
    named(TRL, "format_reward", { command: ["sh", "-c", "echo dead on arrival >&2; exit 7"] }),
    /\(exit code 7\); it printed last: dead on arrival$/,
  ],
  [
    named(TRL, "format_reward", { command: ["sh", "-c", "echo hello; sleep 9"] }),
    /Python wrote something that is not a reply: it begins with the length 1751477356/,
  ],
])("%s does not load, and why is told", async (verifier, cause) => {
  const [found] = await scores(verifier, [{ text: "a" }]);
  expect(found).toMatch(/^the reward did not load: /);
  expect(found).toMatch(cause);
});

/** The Python processes that these processes started. */
const pythonsOf = (pids: readonly number[]): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const [, rest] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
        return pids.includes(Number(rest!.split(" ")[1])) && !rest!.startsWith("Z");
      } catch {
        return false;
      }
    });
const isThere = (pid: number) => existsSync(`/proc/${pid}`);

test.each(["hangs", "prints_without_end"])("%s: ended at the time limit, and unscored", async (name) => {
  const printed = vi.spyOn(process.stderr, "write").mockImplementation(() => true);
  await using own = pythonPool({ own: pythonCall(FAULTY, name) }, { timeoutMs: 600 });
  const judging = scores("own", [{ text: "a" }, { text: "b" }], own);
  const pids = await vi.waitFor(
    () => {
      const found = pythonsOf(own.pids());
      expect(found).toHaveLength(1);
      return found;
    },
    { timeout: 60_000, interval: 20 },
  );
  expect(await judging).toEqual(["a", "b"].map(() => "the reward gave no answer in 600 ms"));
  expect(own.stats()["own"]).toMatchObject({ timeouts: 2, retries: 2, unscored: 2 });
  await vi.waitFor(() => expect(pids.filter(isThere)).toEqual([]), 5000);
  printed.mockRestore();
});

test("a process that ends is replaced: the completions are judged again, and unscored where it ends again", async () => {
  await using own = pythonPool({
    dies: pythonCall(FAULTY, "dies"),
    once: pythonCall(FAULTY, "dies_once"),
  });
  expect(await judge("dies", [{ text: "a" }], own)).toEqual([
    {
      status: "unscored",
      cause: "the Python process ended (exit code 9); it printed last: about to go",
    },
  ]);
  expect(own.stats()["dies"]).toMatchObject({ crashes: 2, retries: 1 });
  const reference = { flag: join(folder, "flag") };
  expect(await scores("once", [{ text: "a", reference }], own)).toEqual([0.75]);
  expect(own.stats()["once"]).toMatchObject({ crashes: 1, retries: 1, unscored: 0 });
});

test("what a function prints, to wherever, goes to stderr under the file's name and leaves the replies whole", async () => {
  const printed: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => printed.push(String(text)) > 0);
  await using own = pythonPool({ own: pythonCall(FAULTY, "noisy") });
  expect(await scores("own", [{ text: "a" }], own)).toEqual([1]);
  const said = () => printed.join("");
  await vi.waitFor(() => expect(said()).toContain("faulty_rewards.py: from stderr\n"), 10_000);
  for (const line of ["stdout while it is imported", "from print", "from sys.stdout", "from a child"])
    expect(said()).toContain(`faulty_rewards.py: ${line}\n`);
  expect(said()).toContain("from descriptor 1");
});

test("its environment has no token but those that the recipe names", async () => {
  Object.assign(process.env, { HF_TOKEN: "hf_secret", HONE_PY_GIVEN: "1" });
  try {
    const calls = { own: pythonCall(FAULTY, "secrets") };
    await using bare = pythonPool(calls);
    expect(await scores("own", [{ text: "a" }], bare)).toEqual([0]);
    await using given = pythonPool(calls, { variables: ["HONE_PY_GIVEN"] });
    expect(await scores("own", [{ text: "a" }], given)).toEqual([2]);
  } finally {
    delete process.env["HF_TOKEN"];
    delete process.env["HONE_PY_GIVEN"];
  }
});

test("as many processes as the recipe says are at work at the same time", async () => {
  await using own = pythonPool({ own: pythonCall(FAULTY, "sleeps_then_rates", { processes: 3 }) });
  const groups = [0, 1, 2].map((problem) => scores("own", [{ text: "a", problem }], own));
  await vi.waitFor(() => expect(pythonsOf(own.pids())).toHaveLength(3), { timeout: 60_000, interval: 20 });
  expect(await Promise.all(groups)).toEqual([[1], [1], [1]]);
});

test("a module that is missing: the virtual environment beside the file is named", async () => {
  const python = join(folder, ".venv/bin/python");
  mkdirSync(join(folder, ".venv/bin"), { recursive: true });
  writeFileSync(python, "");
  await using own = pythonPool({ own: pythonCall(join(folder, "unimportable.py"), "") });
  const [found] = await scores("own", [{ text: "a" }], own);
  expect(found).toMatch(/No module named .*; python: \{ bin: "\S+\.venv\/bin\/python" \} in the recipe uses/);
});

const VERSIONS = join(process.env["HOME"] ?? "", ".pyenv/versions");
const OTHERS = existsSync(VERSIONS)
  ? readdirSync(VERSIONS)
      .filter((name) => /^3\.(?:8|13)\./.test(name))
      .map((name) => named(TRL, "served_reward", { command: [join(VERSIONS, name, "bin/python")] }))
  : [];
test.skipIf(OTHERS.length === 0)(
  "the oldest and the newest Python of this machine give the same",
  async () => {
    const rows = TEXTS.map((text) => ({ text, reference: { answer: "4" } }));
    for (const python of OTHERS) expect(await scores(python, rows), python).toEqual([1, 0, 1, 0, 0, 1]);
  },
);
