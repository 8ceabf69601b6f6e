// Twenty answers to one code problem and their verdicts: right, wrong, too slow, crashed. try-readme.mjs lets each sandbox
// judge them under each version of Node.

const problem = { input_output: { inputs: ["3\n1 2 3\n", "2\n-5 5\n"], outputs: ["6\n", "0\n"] } };

const RIGHT = [
  "input(); print(sum(map(int, input().split())))",
  "import sys\nprint(sum(int(word) for word in sys.stdin.read().split()[1:]))",
  "n = int(input())\ntotal = 0\nfor word in input().split():\n    total += int(word)\nprint(total)",
  "print(eval('+'.join(f'({x})' for x in open(0).read().split()[1:])))",
  "from functools import reduce\ninput()\nprint(reduce(lambda a, b: a + b, map(int, input().split())))",
  "import threading\ndef work():\n    input(); print(sum(map(int, input().split())))\nwork()",
];
const WRONG = [
  "print(6)",
  "input(); print(max(map(int, input().split())))",
  "print(open('/etc/passwd').read())",
  "pass",
  "input(); print(sum(map(int, input().split())) + 1)",
  "import os\nos.write(3, b'V')\nprint(0)",
];
const DEAD = [
  "raise ValueError('dead')",
  "import os\nos._exit(3)",
  "import os\nos.abort()",
  "def f(x): return f(x + 1) + f(x)\nf(0)",
  "x = bytearray(1 << 40)",
  "print('x' * (1 << 26))",
];
/** It costs its time limit in each test, and where WebAssembly runs it, which sleeps by counting, the processor time too. */
const SLOW = ["import time\ntime.sleep(1000)"];
const oneTest = { input_output: { inputs: ["3\n1 2 3\n"], outputs: ["6\n"] } };
const BROKEN = ["def broken(:\n    pass"];

const rows = (sources, status, of = problem) =>
  sources.map((source) => ({
    status,
    row: { problem: of, response: `\`\`\`python\n${source}\n\`\`\`` },
  }));

const CASES = [
  ...rows(RIGHT, "correct"),
  ...rows([...WRONG, ...DEAD], "wrong"),
  ...rows(SLOW, "wrong", oneTest),
  ...rows(BROKEN, "unparsable"),
];

/** Returns the lines of the case file for `hone verify --domain code`. */
export const CASE_LINES = CASES.map(({ row }) => `${JSON.stringify(row)}\n`).join("");

/** Lists where the output of `hone verify` differs from the expected verdicts; empty if it is as expected. */
export function differences(printed) {
  const verdicts = printed
    .split("\n")
    .filter((line) => line.startsWith("{")) // npx may print lines of its own
    .map((line) => JSON.parse(line));
  const wanted = CASES.map(({ status }) => status);
  if (verdicts.length !== wanted.length) return [`${verdicts.length} verdicts for ${wanted.length} cases`];
  return wanted.flatMap((status, i) =>
    verdicts[i].status === status
      ? []
      : [`${CASES[i].row.response}\nis ${status}, got ${JSON.stringify(verdicts[i])}`],
  );
}
