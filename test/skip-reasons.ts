/** Explains why a test was skipped, from the condition that its source passes to skipIf or runIf. */
import { levels } from "./long.ts";

/** True if tests of these kinds run, so that a test's length cannot be the reason. */
type Levels = ReturnType<typeof levels>;
const ASKED: Levels = levels(process.env["HONE_TEST_ALL"]);

/** The meaning of a condition in words; the first pattern that matches counts. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [
    /bubblewrap|runsPrograms|usable/i,
    "no sandbox of that kind here: apt-get install bubblewrap python3; pyodide",
  ],
  [/noCheckout/, "not a checkout of git"],
  [/noSlurm/, "no Slurm, or not root: apt-get install slurm-wlm munge"],
  [/noMachines/, "no network namespaces, or not root: apt-get install iproute2"],
  [/noMpirun/, "no mpirun: apt-get install openmpi-bin"],
  [/noRedis.*noShim/, "no redis-server, or no C compiler: apt-get install redis-server gcc"],
  [/noAddon.*noShim/, "the native core is not built, or no C compiler: npm run build:native"],
  [
    /CHROMIUM.*noAddon/,
    "no chromium, or the native core is not built: apt-get install chromium-headless-shell",
  ],
  [/CHROMIUM/, "no chromium: apt-get install chromium-headless-shell"],
  [/noRedis/, "no redis-server: apt-get install redis-server"],
  [/\bskipped\b/, "the server or package of that driver is not here: apt-get install redis-server; npm ci"],
  [/noAddon/, "the native core is not built: npm run build:native"],
  [/gloo/i, "Gloo is, or is not, here: apt-get install libgloo-dev, npm run build:native"],
  [/mlflowPython/, "HONE_MLFLOW_PYTHON names no Python that has mlflow"],
  [/python/i, "no /usr/bin/python3"],
  [/cuda|gpu/i, "a GPU is, or is not, here"],
  [/nvcc/i, "no nvcc"],
  [/platform/, "for Linux only"],
  [
    /existsSync|cases|models|puzzles|prompts|vectors|published|templates|here|seen/i,
    "its labelled cases or model goldens are not beside the checkout",
  ],
];

/** Turns `!existsSync(folder)` into "its ... are not beside the checkout"; returns an unknown condition unchanged. */
export function meaning(condition: string, { long, longest }: Levels = ASKED): string {
  if ((!long && /\blong\b/.test(condition)) || (!longest && /\blongest\b/.test(condition)))
    return "long, for npm run test:all";
  return MEANINGS.find(([about]) => about.test(condition))?.[1] ?? condition;
}

interface Condition {
  readonly condition: string;
  /** The name of the test or suite, if it is a literal after the condition. */
  readonly title: string | undefined;
}

/** Finds every `.skipIf(...)` and `.runIf(...)` of a source. */
export function conditionsOf(source: string): Condition[] {
  return [...source.matchAll(/\.(?:skipIf|runIf)\(/g)].map(({ index, 0: call }) => {
    const from = index + call.length;
    const end = closing(source, from);
    const behind = /^\)\s*\(\s*(["'`])(.*?)\1/.exec(source.slice(end));
    return { condition: source.slice(from, end), title: behind?.[2] };
  });
}

/** The position of the bracket that closes the one open at `from`. */
function closing(source: string, from: number): number {
  let depth = 1;
  let at = from;
  for (; at < source.length; ++at) {
    if (source[at] === "(") depth += 1;
    if (source[at] === ")") depth -= 1;
    if (depth === 0) break;
  }
  return at;
}

/**
 * The reason of one skipped test: the test's own note, else the condition before its name or before a suite around
 * it, else every condition of its file.
 * @param names of the test and of the suites around it
 */
export function skipReason(
  note: string | undefined,
  names: readonly string[],
  source: string,
  asked: Levels = ASKED,
): string {
  if (note !== undefined) return note;
  const all = conditionsOf(source);
  const own = all.filter(({ title }) => title !== undefined && names.includes(title));
  const reasons = new Set((own.length > 0 ? own : all).map(({ condition }) => meaning(condition, asked)));
  return reasons.size > 0 ? [...reasons].join(", or ") : "no reason is given";
}
