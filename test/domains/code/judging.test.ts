// Deliberate faults (mutants) that these tests detect: no seccomp filter, a call's standard output is ignored, strict
// counts standard error, all tests together have no limit, no --die-with-parent, a returned value is cut whatever is
// expected.
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { readCase } from "../../../lib/domains/code/cases.ts";
import { AT_ONCE } from "../../../lib/domains/code/test-runner.ts";
import { codeVerifier } from "../../../lib/domains/code/verify.ts";
import { HoneError } from "../../../lib/errors.ts";
import { VerifierPool } from "../../../lib/rewards/index.ts";
import type { PythonSandbox } from "../../../lib/sandbox/python-sandbox.ts";
import { HACKS, HONEST, secret } from "../../fixtures/code-hacks.ts";
import {
  bubblewrap,
  descendants,
  hasBubblewrap,
  MEMORY_MB,
  programsLeft,
  programsRunning,
} from "../../fixtures/python-sandboxes.ts";
import { long } from "../../long.ts";
import { patient } from "../../patience.ts";

const code = codeVerifier(async () => bubblewrap);
const WALL_MS = 1000;
const fenced = (source: string) => `\`\`\`python\n${source}\n\`\`\``;

interface Row {
  readonly fn_name?: string;
  readonly inputs: readonly unknown[];
  readonly outputs: readonly unknown[];
}

async function judge(source: string, row: Row, compat: "strict" | "reference" = "strict", wallMs = 10_000) {
  const limits = { wallMs, memoryMb: MEMORY_MB };
  const reference = code.parseReference({ input_output: JSON.stringify(row), compat, limits });
  const verdict = await code.verify({ text: fenced(source), finish: "stop" }, reference);
  expect(verdict.score).toBe(verdict.status === "correct" ? 1 : 0);
  expect(verdict.reason.length).toBeLessThan(200);
  return verdict;
}

const DOUBLES: Row = { inputs: ["3", "4", "5"], outputs: ["6", "8", "10"] };
const DOUBLE: Row = { fn_name: "double", inputs: [[3], [4]], outputs: [6, [8]] };

describe.skipIf(!hasBubblewrap)("verdicts", () => {
  test.each<[string, string, Row, string, string]>([
    [
      "prints the answers",
      "print(2 * int(input()))",
      DOUBLES,
      "correct: 3 of 3 tests pass",
      "correct: 3 of 3 tests pass",
    ],
    [
      "fails one",
      "print(min(9, 2 * int(input())))",
      DOUBLES,
      "wrong: test 3 of 3: prints something else",
      "wrong: test 3 of 3: prints something else",
    ],
    [
      "raises",
      "1 / 0",
      DOUBLES,
      "wrong: test 1 of 3: ZeroDivisionError: division by zero",
      "wrong: test 1 of 3: ZeroDivisionError: division by zero",
    ],
    [
      "does not compile",
      "def f(:",
      DOUBLES,
      "unparsable: test 1 of 3: does not compile: invalid syntax (solution.py, line 1)",
      "unparsable: test 1 of 3: does not compile: invalid syntax (solution.py, line 3)",
    ],
    [
      "exits after printing",
      "print(2 * int(input()))\nimport sys\nsys.exit(1)",
      DOUBLES,
      "correct: 3 of 3 tests pass",
      "correct: 3 of 3 tests pass",
    ],
    [
      "fails at once with a status",
      "print(2 * int(input()), flush=True)\nimport os\nos._exit(1)",
      DOUBLES,
      "wrong: test 1 of 3: exit status 1",
      "correct: 3 of 3 tests pass",
    ],
    [
      "mentions an exception",
      "import sys\nprint('no exception', file=sys.stderr)\nprint(2 * int(input()))",
      DOUBLES,
      "correct: 3 of 3 tests pass",
      "wrong: test 1 of 3: complains on standard error",
    ],
    [
      "is a main function",
      "def main():\n    print(2 * int(input()))\nif __name__ == '__main__':\n    main()",
      DOUBLES,
      "correct: 3 of 3 tests pass",
      "correct: 3 of 3 tests pass",
    ],
    [
      "comes from the future",
      "from __future__ import annotations\nprint(2 * int(input()))",
      DOUBLES,
      "correct: 3 of 3 tests pass",
      "unparsable: test 1 of 3: does not compile: from __future__ imports must occur at the beginning of the file (solution.py, line 3)",
    ],
    [
      "uses names of the preamble",
      "print(reduce(add, [int(input())] * 2))",
      DOUBLES,
      "correct: 3 of 3 tests pass",
      "correct: 3 of 3 tests pass",
    ],
    [
      "reads descriptor 0",
      "print(2 * int(open(0).read()))",
      DOUBLES,
      "correct: 3 of 3 tests pass",
      "wrong: test 1 of 3: ValueError: invalid literal for int() with base 10: ''",
    ],
    [
      "catches its own exit",
      "try:\n    exit()\nexcept Exception:\n    pass\nprint(2 * int(input()))",
      DOUBLES,
      "wrong: test 1 of 3: prints something else",
      "correct: 3 of 3 tests pass",
    ],
    [
      "returns the answers",
      "def double(n):\n    return 2 * n",
      DOUBLE,
      "correct: 2 of 2 tests pass",
      "correct: 2 of 2 tests pass",
    ],
    [
      "is a method",
      "class Solution:\n    def double(self, n):\n        return 2 * n",
      DOUBLE,
      "correct: 2 of 2 tests pass",
      "correct: 2 of 2 tests pass",
    ],
    [
      "has another name",
      "def triple(n):\n    return 2 * n",
      DOUBLE,
      "wrong: test 1 of 2: KeyError: 'double'",
      "wrong: test 1 of 2: KeyError: 'double'",
    ],
    [
      "prints while called",
      "def double(n):\n    print(n)\n    return 2 * n",
      DOUBLE,
      "wrong: test 1 of 2: prints while it is called",
      "wrong: test 1 of 2: prints while it is called",
    ],
    [
      "prints blanks while called",
      "def double(n):\n    print()\n    return 2 * n",
      DOUBLE,
      "correct: 2 of 2 tests pass",
      "correct: 2 of 2 tests pass",
    ],
    [
      "returns None",
      "def double(n):\n    pass",
      DOUBLE,
      "wrong: test 1 of 2: returns something else",
      "wrong: test 1 of 2: returns something else",
    ],
    [
      "returns an instance",
      "class I(int): pass\ndef double(n):\n    return I(2 * n)",
      DOUBLE,
      "wrong: test 1 of 2: returns a I",
      "correct: 2 of 2 tests pass",
    ],
    [
      "returns text",
      "def double(n):\n    return str(2 * n)",
      DOUBLE,
      "wrong: test 1 of 2: returns something else",
      "wrong: test 1 of 2: returns something else",
    ],
  ])("a program that %s", async (_, source, row, strict, reference) => {
    const spoken = [];
    for (const compat of ["strict", "reference"] as const) {
      const { status, reason } = await judge(source, row, compat);
      spoken.push(`${status}: ${reason}`);
    }
    expect(spoken).toEqual([strict, reference]);
  });

  test("a program that is too slow is wrong, for the reference unparsable", async () => {
    const verdicts = [
      await judge("while True: pass", DOUBLES, "strict", 400),
      await judge("while True: pass", DOUBLES, "reference", 400),
    ];
    expect(verdicts.map(({ status, reason }) => `${status}: ${reason}`)).toEqual([
      "wrong: test 1 of 3: over 400 ms",
      "unparsable: test 1 of 3: over 400 ms",
    ]);
  });

  test("a value of over a megabyte may be what is expected", async () => {
    const row = { fn_name: "f", inputs: [[1]], outputs: [[Array.from({ length: 400_000 }, (_, i) => i)]] };
    const { reason } = await judge("def f(n):\n    return list(range(400_000))", row);
    expect(reason).toBe("1 of 1 tests pass");
  });

  test("a text that looks like a number is none", async () => {
    const row = { fn_name: "f", inputs: [[1]], outputs: ["100"] };
    expect((await judge("def f(n):\n    return '100'", row)).status).toBe("correct");
    expect((await judge("def f(n):\n    return 100", row)).status).toBe("wrong");
  });

  test("the tests together have a limit too", async () => {
    const input_output = { inputs: ["1", "1", "1", "1"], outputs: ["1", "1", "1", "1"] };
    const limits = { wallMs: 5000, totalMs: 900, memoryMb: MEMORY_MB };
    const reference = code.parseReference({ input_output, limits });
    const source = "import time\ntime.sleep(0.6)\nprint(1)";
    const { status } = await code.verify({ text: fenced(source), finish: "stop" }, reference);
    expect(status).toBe("wrong");
  });

  test("a test never sees another one's traces", async () => {
    const source = "import os\nprint(sorted(os.listdir('.')))\nopen('seen', 'w').close()";
    const verdict = await judge(source, { inputs: ["", "", ""], outputs: ["[]", "[]", "[]"] });
    expect(verdict.status).toBe("correct");
  });

  test("the same answer gets the same verdict and reason, whichever of its tests ends first", async () => {
    const source = "n = int(input())\nif n == 3:\n    sum(range(10**6))\nprint(0)";
    const verdicts = await Promise.all(Array.from({ length: 4 }, () => judge(source, DOUBLES)));
    expect(new Set(verdicts.map(({ reason }) => reason))).toEqual(
      new Set(["test 1 of 3: prints something else"]),
    );
  });
});

test("no test is begun when those before it took the time of all", async () => {
  const limits: number[] = [];
  const slow: PythonSandbox = {
    name: "stand-in",
    probe: async () => ({ usable: true, what: "" }),
    run: async (_, { wallMs }) => {
      limits.push(wallMs);
      return { end: "finished", detail: "", stdout: "1", stderr: "", spentMs: 1000, value: undefined };
    },
  };
  const verifier = codeVerifier(async () => slow);
  const input_output = { inputs: ["", "", "", ""], outputs: ["1", "1", "1", "1"] };
  const reference = verifier.parseReference({ input_output, limits: { wallMs: 5000, totalMs: 900 } });
  const verdict = await verifier.verify({ text: fenced("print(1)"), finish: "stop" }, reference);
  expect(limits).toEqual([900, 900]);
  expect(verdict).toEqual({
    status: "wrong",
    score: 0,
    reason: "test 3 of 4: all tests together took over 900 ms",
  });
});

describe("without running anything", () => {
  const untouched = codeVerifier(() => Promise.reject(new Error("must not be asked for")));
  const reference = untouched.parseReference({ input_output: DOUBLES });
  test.each([
    ["no program", "print(1)", { status: "no_answer", score: 0, reason: "no fenced block of Python" }],
    [
      "a draft in the thought",
      `<think>${fenced("print(1)")}</think>`,
      { status: "no_answer", score: 0, reason: "no fenced block of Python" },
    ],
    [
      "a huge program",
      fenced("#".repeat((1 << 20) + 1)),
      { status: "wrong", score: 0, reason: "program of 1048577 characters" },
    ],
  ])("%s", async (_, text, verdict) => {
    expect(await untouched.verify({ text, finish: "stop" }, reference)).toEqual(verdict);
  });
});

test("a sandbox that does not work throws, so that the completion is unscored", async () => {
  const down: PythonSandbox = {
    name: "down",
    probe: async () => ({ usable: true, what: "until it is used" }),
    run: () => Promise.reject(new HoneError("HONE_ERR_VERIFIER", "down")),
  };
  const verifier = codeVerifier(async () => down);
  const judged = verifier.verify(
    { text: fenced("x"), finish: "stop" },
    verifier.parseReference({ input_output: DOUBLES }),
  );
  await expect(judged).rejects.toThrow("down");
});

describe.skipIf(!hasBubblewrap)("hacks", () => {
  const rows: Readonly<Record<"call" | "stdin", Row>> = {
    call: { fn_name: "solve", inputs: [[3], [4]], outputs: [secret(3), [secret(4)]] },
    stdin: { inputs: ["3\n", "4\n"], outputs: [`${secret(3)}\n`, `${secret(4)}\n`] },
  };

  test.each(["call", "stdin"] as const)("an honest %s passes", async (style) => {
    for (const compat of ["strict", "reference"] as const) {
      expect((await judge(HONEST[style], rows[style], compat)).status).toBe("correct");
    }
  });

  test.each(HACKS)("$style: one that $why", { timeout: 120_000 }, async ({ source, style, reason }) => {
    const verdict = await judge(source, rows[style], "strict", WALL_MS);
    expect(verdict.reason).toMatch(reason);
    expect(["wrong", "unparsable"]).toContain(verdict.status);
  });

  const quick = HACKS.filter(({ reason }) => !reason.source.includes("over"));
  test.runIf(long)("in reference mode none of those that end by themselves passes either", async () => {
    const passed = [];
    for (const { why, source, style } of quick) {
      if ((await judge(source, rows[style], "reference", WALL_MS)).score > 0) passed.push(why);
    }
    expect(passed).toEqual([]);
  });

  test("leave no process behind", async () => {
    expect(await programsLeft()).toEqual([]);
  });
});

describe.skipIf(!hasBubblewrap)("in the pool", () => {
  const LIMIT_MS = patient(2000); // the second program's time, with a start of Python
  const pool = new VerifierPool({ workers: 1, limits: { code: { timeoutMs: LIMIT_MS } } });
  afterAll(() => pool.close());
  const memoryMb = MEMORY_MB;
  const problem = (limits: object) => ({
    id: 1,
    domain: "code" as const,
    family: "test",
    level: 0,
    question: "?",
    verifier: "code",
    reference: { input_output: DOUBLES, limits: { memoryMb, ...limits } },
  });

  test("a worker killed by the watchdog takes its processes along", { timeout: 120_000 }, async () => {
    const request = { problem: problem({ wallMs: 60_000 }), finish: "stop" as const };
    const texts = ["import time\ntime.sleep(60)", "print(2 * int(input()))"].map(fenced);
    const before = new Set(descendants().map(({ pid }) => pid));
    const judging = pool.verify(texts.map((text) => ({ ...request, text })));
    const taken = (await programsRunning(AT_ONCE)).filter(({ pid, depth }) => depth > 0 && !before.has(pid));
    const verdicts = await judging;
    expect(verdicts).toEqual([
      { status: "wrong", score: 0, reason: `verification took over ${LIMIT_MS} ms` },
      { status: "correct", score: 1, reason: "3 of 3 tests pass" },
    ]);
    expect(taken.map(({ depth }) => depth).sort()).toEqual([1, 1, 2, 2]); // pump, zygote, one program for each of two tests
    const gone = () => descendants().every(({ pid }) => !taken.some((one) => one.pid === pid));
    await vi.waitFor(() => expect(gone()).toBe(true), { timeout: 60_000 });
  });
});

const folder = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/data/code");

describe.skipIf(!existsSync(folder) || !hasBubblewrap)("labels of the reference implementation", () => {
  const cases = () =>
    readFileSync(resolve(folder, "verdict_cases.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);

  /** One response of each kind and style of problem; `npm run agreement` judges the whole file. */
  const oneOfEach = (rows: Record<string, unknown>[]) => [
    ...new Map(
      rows.map((row) => [`${row["kind"]} ${String(row["problem"]).slice(0, 4)} ${row["expected"]}`, row]),
    ).values(),
  ];

  test.each(["reference", "strict"] as const)(
    "are reproduced in %s mode",
    { timeout: 120_000 },
    async (compat) => {
      const rows = oneOfEach(cases());
      const apart: string[] = [];
      const lane = async () => {
        for (let row = rows.pop(); row !== undefined; row = rows.pop()) {
          const { completion, reference } = await readCase(row, folder);
          const { status } = await code.verify(completion, code.parseReference({ ...reference, compat }));
          if (status !== row["expected"])
            apart.push(`${row["problem"]} ${row["kind"]}: ${row["expected"]} -> ${status}`);
        }
      };
      await Promise.all([lane(), lane()]);
      expect(apart).toEqual([]);
    },
  );
});
