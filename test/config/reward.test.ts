import { expect, test } from "vitest";
import { changed, issuesOf } from "./recipes.ts";

const HASH = "0".repeat(64);

test.each([
  ["a path", "./mine.ts"],
  ["a path with a name", "../rewards/mine.ts#short"],
  ["a URL", "file:///srv/mine.ts"],
  ["the problem's verifier", "verifier"],
  ["a function as run.json keeps it", { function: "mine", sha256: HASH, process: "main", timeoutMs: 5 }],
])("%s judges a domain", (_, reward) => {
  expect(issuesOf(changed({ "domains.math.reward": reward }))).toEqual([]);
  const rewards = { short: { weight: 0.2, reward } };
  expect(issuesOf(changed({ "domains.math.rewards": rewards }))).toEqual([]);
});

test.each([
  ["a bare name", "domains.math.reward", "mine", "domains.math.reward", 'it must be a function, "verifier"'],
  [
    "a Python file as a text",
    "domains.math.reward",
    "rewards.py#f",
    "domains.math.reward",
    'a reward in a Python file is written as { python: "rewards.py#f" }',
  ],
  [
    "a Python file as a module",
    "domains.math.reward",
    "./r.py",
    "domains.math.reward",
    '{ python: "./r.py" }',
  ],
  ["half an escape", "domains.math.reward", "./a.ts#%zz", "domains.math.reward", "#%zz has a % that"],
  ["a number", "domains.math.reward", 3, "domains.math.reward", "is 3"],
  ["no rewards", "domains.math.rewards", {}, "domains.math.rewards", "name at least one reward"],
  [
    "a weight of 0",
    "domains.math.rewards",
    { a: { weight: 0, reward: "./a.ts" } },
    "domains.math.rewards.a.weight",
    "is 0",
  ],
  [
    "no weight",
    "domains.math.rewards",
    { a: { reward: "./a.ts" } },
    "domains.math.rewards.a.weight",
    "is required",
  ],
  [
    "a name with a slash",
    "domains.math.rewards",
    { "a/b": { weight: 1, reward: "./a.ts" } },
    "domains.math.rewards.a/b",
    "",
  ],
])("%s is refused", (_, field, value, path, message) => {
  expect(issuesOf(changed({ [field]: value }))).toEqual([
    expect.objectContaining({ path, message: expect.stringContaining(message) }),
  ]);
});

test("one judge and several at once are refused", () => {
  const rewards = { a: { weight: 1, reward: "./a.ts" } };
  const recipe = changed({ "domains.math.reward": "./a.ts", "domains.math.rewards": rewards });
  expect(issuesOf(recipe)).toEqual([
    {
      path: "domains",
      message: "gives math both reward and rewards; name one judge, or several with weights",
    },
  ]);
});

test.each([
  [
    "beside no reward",
    { solvedAt: 0.5 },
    "math has range or solvedAt, which apply to numbers that a reward returns",
  ],
  ["of the verifier", { reward: "verifier", range: [0, 2] }, "math has range or solvedAt"],
  [
    "of a part",
    { rewards: { a: { weight: 1, reward: "./a.ts", range: [0, 2], solvedAt: 3 } } },
    "math.rewards.a has solvedAt 3, which is not above 0 and at most 2, its range",
  ],
])("a scale %s is refused where it can mean nothing", (_, domain, message) => {
  const fields = Object.entries(domain).map(([name, value]) => [`domains.math.${name}`, value]);
  const [issue, ...others] = issuesOf(changed(Object.fromEntries(fields)));
  expect(issue!.message).toContain(message);
  expect(others).toEqual([]);
});

test("a range is two numbers in order", () => {
  const issues = issuesOf(changed({ "domains.math.reward": "./a.ts", "domains.math.range": [1, -1] }));
  expect(issues[0]).toMatchObject({ path: "domains.math.range" });
  expect(issues[0]!.message).toContain("it is [lowest, highest]");
});
