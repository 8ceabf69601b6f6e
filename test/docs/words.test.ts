// Keeps words that the glossary replaced out of every tracked file, except where an allowance below gives a reason.
// csrc/ and test/csrc/ have their own check.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

/** Old words as extended regular expressions, and the word to write instead. */
const OLD_WORDS: readonly (readonly [pattern: string, instead: string])[] = [
  ["[Ss]ittings?|sitting[A-Z]\\w*|\\w+Sitting", "session"],
  ["[Mm]uster\\w*", "rendezvous, barrier"],
  ["roll[ -]call|callRoll|rollCall", "rendezvous, readiness"],
  ["[Ss]igns? of life|SignsOfLife|RankWord|RankPulse", "heartbeat"],
  ["[Aa]ttendance|Attendant", "readiness"],
  ["[Ii]ncarnations?|nextIncarnation", "generation"],
  ["Strikes?|AskedStrikes|doStrikes", "signals, failure count"],
  ["[Hh]opeless|isHopeless|refuseIfHopeless", "nonRetryable, failAfterRepeatedErrors"],
  ["lastWords|last words", "logTail"],
  ["Books|BooksParts|SavedBooks|keeps the books", "GroupAccounting"],
  ["Line(State|Status|Facts|Moment|Position|Progress)", "Pipeline…"],
  ["StatusBoard|RequestBox|HandedOutcomes|MomentHeap|SweepBook", "StatusWriter, ControlInbox, …"],
  ["[Ss]eats?|worldMap", "placement"],
  ["Bell|bells?", "notifier"],
  ["[Pp]reside[sd]?", "acquire leadership"],
  ["[Ww]ings?|[Hh]alls?|[Dd]oors?|[Hh]ouse|floor plan", "domain package, shared, entry point, module map"],
  ["[Rr]ooms", "modules"],
  ["[Dd]rills?|\\w+Drill", "self-test"],
  ["frozen page|FrozenSamples|frozenSamples", "static report"],
  ["[Ss]trangers?", "untrusted"],
];

/** Files, or lines of a file, in which a word has another meaning or names a field of users' files. */
const ALLOWED: readonly (readonly [file: RegExp, line: RegExp, why: string])[] = [
  [/^test\/docs\/words\.test\.ts$/, /./, "the list itself"],
  [/^test\/mutants\/csrc-/, /./, "texts of csrc/"],
  [/^(lib|test)\/domains\//, /./, "words of puzzles, data sets and language models' prompts"],
  [/^CHANGELOG\.md$/, /`sitting`|drill|sign of life/, "names that users' files had or have"],
  [/orchestration\/records\/|orchestration\/run\/training\.ts$/, /\bsitting\b/, "a field of verdicts.jsonl"],
  [/mutants\/orchestration-records\.json$/, /\bsitting\b/, "likewise"],
  [/^(lib|test)\/samples\//, /\bsitting\b/, "likewise"],
  [
    /^(lib|test)\/trackers\/|write-a-tracker\.md$|reference\/api\.md$/,
    /\bsitting\b/,
    "a field of tracker entries, and hone.sitting",
  ],
  [/mutants\/trackers\.json$/, /\bsitting\b/, "likewise"],
  [/\.(ts|js)$/, /sittingStartedMs/, "a field of line.json"],
  [/^lib\/fleet\/rendezvous\.ts$/, /"cluster\/sitting"/, "a register that stores of older versions have"],
  [
    /cluster-self-test(\.test)?\.ts$|doctor-cluster(\.test)?\.ts$/,
    /drills/,
    "a field of `hone doctor --cluster --json`",
  ],
  [/^lib\/sandbox\/(pump|zygote)-script\.ts$/, /\bdoor\b/, "a socket's name within one script"],
];

const allowed = (file: string, line: string): boolean =>
  ALLOWED.some(([files, lines]) => files.test(file) && lines.test(line));

interface Use {
  readonly file: string;
  readonly at: string;
  readonly line: string;
}

/** Lines of tracked text files that contain an old word; git exits with 1 if there are none. */
const used: readonly Use[] = (() => {
  const patterns = OLD_WORDS.flatMap(([pattern]) => ["-e", pattern]);
  const grep = ["grep", "-InwE", ...patterns, "--", ".", ":!*.jsonl", ":!*punkt*", ":!csrc", ":!test/csrc"];
  const { stdout, status } = spawnSync("git", grep, { encoding: "utf8", maxBuffer: 1 << 28 });
  expect(status).toBe(0);
  return stdout
    .split("\n")
    .filter((found) => found !== "")
    .map((found) => {
      const [, file, at, line] = /^([^:]+):(\d+):(.*)$/s.exec(found)!;
      return { file: file!, at: at!, line: line! };
    });
})();

const uses = (pattern: string): Use[] => {
  const word = new RegExp(`(?<!\\w)(?:${pattern})(?!\\w)`);
  return used.filter(({ line }) => word.test(line));
};

test.each(OLD_WORDS)("%s is out of use: write %s", (pattern) => {
  const found = uses(pattern).filter(({ file, line }) => !allowed(file, line));
  expect(found.map(({ file, at, line }) => `${file}:${at}: ${line.trim().slice(0, 100)}`)).toEqual([]);
});

test("an old word that comes back is found, and every allowance is needed", () => {
  expect(allowed("lib/fleet/agents.ts", "const sitting = 1;")).toBe(false);
  expect(uses("[Ss]ittings?").some(({ file }) => file === "CHANGELOG.md")).toBe(true);
  const idle = ALLOWED.filter(
    ([files, lines]) => !used.some(({ file, line }) => files.test(file) && lines.test(line)),
  );
  expect(idle.map(([, , why]) => why)).toEqual([]);
});
