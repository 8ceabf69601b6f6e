import { expect, test } from "vitest";
import { evaluate, type PolicyUnderTest, problemsAsked } from "../../lib/evaluation/index.ts";
import { openResources } from "../../lib/orchestration/setup/resources.ts";
import { inlineVerifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { type StandInOptions, standInCore } from "../orchestration/stand-in-core.ts";

async function policyOf(options: StandInOptions = {}): Promise<PolicyUnderTest> {
  const resources = await openResources(smallRecipe(), standInCore(options), inlineVerifiers);
  const version = await resources.trainer.publish(resources.generations.engine);
  return { ...resources, version };
}
const PLAN = { problemsPerDomain: 4, attempts: 3, temperature: 1, topP: 1 };

test("asks every domain its held-out problems, in order, and reports progress", async () => {
  const progress: number[] = [];
  const policy = await policyOf();
  const results = await evaluate(policy, { ...PLAN, onProgress: (done) => progress.push(done) });
  const expected = [...policy.sources.values()].flatMap((s) => [0, 1, 2, 3].map((i) => s.heldOut(i).id));
  expect(results.map((r) => r.problem.id)).toEqual(expected);
  expect(results.every((r) => r.scores.length === 3 && r.tokens.length === 3)).toBe(true);
  expect(progress).toEqual(Array.from({ length: 12 }, (_, i) => i + 1));
});

test("a validation set is asked after the domains, with its own numbers where it has some", async () => {
  const policy = await policyOf({ length: () => 60 });
  const [first, second] = [...policy.sources.values()];
  const sets = new Map([
    ["own", { source: first!, problems: 2, attempts: 1, maxTokens: 7 }],
    ["plain", { source: second! }],
  ]);
  const results = await evaluate({ ...policy, sets }, { ...PLAN, maxTokens: 20 });
  expect(problemsAsked({ ...policy, sets }, 4)).toBe(results.length);
  const of = (name?: string) => results.filter(({ set }) => set === name);
  expect(of()).toHaveLength(12);
  expect(of("own").map(({ tokens }) => tokens)).toEqual([[7], [7]]);
  expect(of("plain").map(({ tokens }) => tokens)).toEqual(Array(4).fill([20, 20, 20]));
  expect(of("own").map(({ problem }) => problem.id)).toEqual([0, 1].map((i) => first!.heldOut(i).id));
});

test("a source with fewer held-out problems is asked each of them once", async () => {
  const policy = await policyOf();
  const sources = new Map(
    [...policy.sources].map(([domain, source], i) => {
      const finite = {
        ...source,
        problem: source.problem.bind(source),
        heldOut: source.heldOut.bind(source),
      };
      return [domain, i === 0 ? { ...finite, heldOutCount: 3 } : finite] as const;
    }),
  );
  const results = await evaluate({ ...policy, sources }, PLAN);
  expect(results).toHaveLength(3 + 4 * (sources.size - 1));
});

test("twice the same policy gives twice the same results; cut answers are counted as cut", async () => {
  const length = (problem: number) => (problem % 2 === 0 ? 100 : 5);
  const [a, b] = [
    await evaluate(await policyOf({ length }), PLAN),
    await evaluate(await policyOf({ length }), PLAN),
  ];
  expect(a).toEqual(b);
  for (const { problem, truncated } of a) expect(truncated).toEqual(Array(3).fill(problem.id % 2 === 0));
});

test("answers that could not be judged are left out; so is a problem without any, and the causes are told", async () => {
  const policy = await policyOf();
  const verify = async (group: readonly unknown[]) =>
    group.map((_, i) =>
      i === 0
        ? ({ status: "wrong", score: 0, reason: "" } as const)
        : ({ status: "unscored", cause: "" } as const),
    );
  const partial = await evaluate({ ...policy, verifiers: { verify } }, PLAN);
  expect(partial.every((r) => r.scores.length === 1)).toBe(true);
  const causes: string[] = [];
  const onUnscored = (_: unknown, [cause]: readonly string[]) => causes.push(cause!);
  const none = async (group: readonly unknown[]) =>
    group.map(() => ({ status: "unscored", cause: "it was out" }) as const);
  const lost = await evaluate(
    { ...(await policyOf()), verifiers: { verify: none } },
    { ...PLAN, onUnscored },
  );
  expect(lost).toEqual([]);
  expect(causes).toEqual(partial.map(() => "it was out"));
});

test("told to stop before it begins, it asks nothing", async () => {
  const policy = await policyOf();
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(evaluate(policy, { ...PLAN, signal })).rejects.toThrow("enough");
  expect(policy.generations.inFlight).toBe(0);
});

test("an abort rejects at once and empties the engine", async () => {
  const policy = await policyOf({ deaf: true });
  const controller = new AbortController();
  const pending = evaluate(policy, { ...PLAN, signal: controller.signal });
  controller.abort(new Error("enough"));
  await expect(pending).rejects.toThrow("enough");
  expect(policy.generations.inFlight).toBe(0);
});

test("held-out problems that are too long for a prompt are passed over, and others asked in their place", async () => {
  const policy = await policyOf();
  const { rollouts } = policy.recipe;
  const recipe = { rollouts: { ...rollouts, maxPromptTokens: 20 } };
  const results = await evaluate({ ...policy, recipe }, PLAN);
  const lengths = results.map(({ problem }) => policy.model.format.prompt(problem).length);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(20);
  expect(results).toHaveLength(4 * policy.sources.size);
  const none = { rollouts: { ...rollouts, maxPromptTokens: 1 } };
  await expect(evaluate({ ...policy, recipe: none }, PLAN)).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
});
