// Tests the pool of a recipe with rewards, in real processes. Deliberate faults (mutants) that these tests detect: a
// looping reward is unscored, a waiting one scores 0, the name after # is ignored, the module's limits are ignored,
// the sum's parts are not counted.
import { afterAll, expect, test, vi } from "vitest";
import { judgeSchema } from "../../../lib/config/judge.ts";
import type { Problem } from "../../../lib/records.ts";
import { type JudgeOptions, type RewardPlan, VerifierPool } from "../../../lib/rewards/index.ts";
import { JudgeServer } from "../../fixtures/judge-server.ts";

vi.setConfig({ testTimeout: 120_000 }); // processes start from source here

const file = new URL("../../fixtures/verifiers/rewards.ts", import.meta.url).href;
const alone = (verifier: string, giver: RewardPlan["parts"][0]["giver"]): RewardPlan => ({
  verifier,
  isSum: false,
  parts: [{ verifier, name: verifier, weight: 1, giver }],
});
const pool = new VerifierPool({
  workers: 1,
  rewards: [
    alone("reward:default", { by: "module", url: file }),
    alone("reward:named", { by: "module", url: `${file}#obedient` }),
    alone("reward:object", { by: "module", url: `${file}#verifier` }),
    alone("reward:absent", { by: "module", url: `${file}#nobody` }),
    alone("reward:own", { by: "verifier" }),
    alone("reward:elsewhere", { by: "function", name: "mine" }),
    {
      verifier: "reward:sum",
      isSum: true,
      parts: [
        { verifier: "part:sum:right", name: "right", weight: 3, giver: { by: "verifier" } },
        {
          verifier: "part:sum:long",
          name: "long",
          weight: 1,
          scale: { range: [0, 1] },
          giver: { by: "module", url: file },
        },
        {
          verifier: "part:sum:half",
          name: "half",
          weight: 4,
          giver: { by: "function", name: "half", reward: () => 0.5 },
        },
      ],
    },
  ],
});
afterAll(() => pool.close());

const problem = (verifier: string, reference: unknown): Problem => ({
  id: 1,
  domain: "math",
  family: "f",
  level: 0,
  question: "",
  verifier,
  reference: { prompt: "2+2?", verifier: "residue", reference },
});
const judge = (verifier: string, reference: unknown, ...texts: readonly string[]) =>
  pool.verify(texts.map((text) => ({ problem: problem(verifier, reference), text, finish: "eos" as const })));

test("a module's default export, a named one, and a verifier in the place of a function", async () => {
  expect(await judge("reward:default", 0, "12345", "1234567890")).toMatchObject([
    { status: "partial", score: 0.5 },
    { status: "correct", score: 1 },
  ]);
  const told = JSON.stringify({ prompt: "2+2?", answer: "told", reference: "right" });
  expect(await judge("reward:named", "right", "right", "told", "verdict", "unscored")).toEqual([
    { status: "correct", score: 1, reason: "reward 1" },
    { status: "wrong", score: 0, reason: told },
    { status: "partial", score: 0.25, reason: "a verdict" },
    { status: "unscored", cause: "the service is down" },
  ]);
  expect(await judge("reward:object", "right", "right", "left")).toMatchObject([{ score: 1 }, { score: 0 }]);
  expect(await judge("reward:object", "left", "right")).toMatchObject([
    { status: "unscored", cause: expect.stringContaining("reference must be right") },
  ]);
});

test("a loop is killed and scores 0, a promise that never settles is unscored, each by the module's own limit", async () => {
  const late = { status: "unscored", cause: "the reward gave no answer in 700 ms" };
  expect(await judge("reward:named", "right", "loop", "right", "wait", "throw", "wait politely")).toEqual([
    { status: "wrong", score: 0, reason: "verification took over 700 ms" },
    { status: "correct", score: 1, reason: "reward 1" },
    late,
    {
      status: "unscored",
      cause: expect.stringMatching(/^verifier threw: my bug \(obedient, .*rewards\.ts:/),
    },
    late,
  ]);
  const { timeouts, unscored } = pool.stats()["reward:named"]!;
  expect({ timeouts, unscored }).toEqual({ timeouts: 5, unscored: 4 }); // one of them comes from the test above
});

test("an export that is not there, and a function of a script that is not running, are named", async () => {
  expect(await judge("reward:absent", 0, "x")).toMatchObject([
    { status: "unscored", cause: expect.stringContaining("rewards.ts#nobody exports no reward") },
  ]);
  await expect(judge("reward:elsewhere", 0, "x")).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: "reward:elsewhere is the function mine, which is not available in this process",
  });
});

test("several rewards, each where it belongs, are one verdict that tells its parts", async () => {
  const reference = { value: 3, modulus: 5 };
  const answer = "<think></think>3<eos>";
  expect(await judge("reward:own", reference, answer)).toMatchObject([{ status: "correct" }]);
  const [verdict] = await judge("reward:sum", reference, "<think></think>3", "12345");
  expect(verdict).toMatchObject({
    status: "unscored",
    cause: expect.stringContaining("reward long: the reward returned 1.6"),
  });
  const [, wrong] = await judge("reward:sum", reference, answer, "12345");
  expect(wrong).toMatchObject({
    status: "partial",
    score: 0.125 * 0.5 + 0.5 * 0.5,
    parts: { right: 0, long: 0.5, half: 0.5 },
  });
  expect(pool.stats()["part:sum:half"]).toMatchObject({ calls: 4 });
  expect(pool.stats()["part:sum:long"]!.calls).toBeGreaterThan(0);
  expect(pool.stats()["reward:sum"]).toBeUndefined();
});

test("a judge that is down leaves a group's cut answers unscored as well; one that answers does not", async () => {
  const server = new JudgeServer((_, response) => void response.writeHead(500).end("oops"));
  const judge: JudgeOptions = judgeSchema.parse({
    url: `${await server.listen()}/v1`,
    model: "j",
    retries: 0,
    cache: false,
    samplings: 1,
  });
  await using judged = new VerifierPool({ rewards: [alone("reward:judged", { by: "judge", judge })] });
  const group = (...finishes: ("eos" | "length")[]) =>
    judged.verify(
      finishes.map((finish) => ({ problem: problem("reward:judged", "4"), text: "four", finish })),
    );
  const causes = (await group("eos", "length", "eos")).map((verdict) => "cause" in verdict && verdict.cause);
  expect(causes).toEqual(Array(3).fill("the judge: the server says 500: oops"));
  expect(await group("length", "length")).toMatchObject([{ status: "no_answer" }, { status: "no_answer" }]);
  server.script = ({ key }) => `VERDICT ${key}: 5`;
  expect(await group("eos", "length")).toMatchObject([{ status: "partial" }, { status: "no_answer" }]);
  expect(judged.stats()["reward:judged"]).toMatchObject({ calls: 9, unscored: 2, judge: { calls: 1 } });
  await server[Symbol.asyncDispose]();
});
