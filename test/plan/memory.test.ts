import { expect, test } from "vitest";
import { defineRecipe, type Recipe, type RecipeInput } from "../../lib/config/index.ts";
import { PUBLISHED_CONFIGS } from "../../lib/inference/index.ts";
import { expectFit, type MemoryPlan, planMemory } from "../../lib/plan/index.ts";
import { measureMemory } from "../../lib/plan/memory.ts";
import { longest } from "../long.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const APRIEL = JSON.stringify(PUBLISHED_CONFIGS["ServiceNow-AI/Apriel-1.5-15b-Thinker"]);
const TINY = JSON.stringify(PUBLISHED_CONFIGS["Qwen/Qwen3-0.6B"]);
const machine = { memory: 16 * 2 ** 30, threads: 2 };

const apriel = (hardware: Partial<NonNullable<RecipeInput["hardware"]>> = {}, engine = {}): Recipe =>
  defineRecipe({
    name: "a",
    hardware: {
      gpu: "H100",
      gpuMemoryGiB: 80,
      gpus: 64,
      actorGpus: 32,
      recompute: true,
      sharding: { stage: "parameters" },
      ...hardware,
    },
    model: { folder: "x/y" },
    domains: { math: { weight: 1, source: "procedural/math" } },
    rollouts: { maxOutputTokens: 16_000, maxPromptTokens: 2000 },
    lengthPenalty: { bufferTokens: 2000 },
    training: { steps: 1, groupsPerStep: 8, packedTokens: 18_000 },
    engine: { pages: 12_000, ...engine },
  });

function bytesOf(plan: Pick<MemoryPlan, "roles">, role: string, name: string): number {
  const found = plan.roles.find((r) => r.role === role)?.rows.find((row) => row.name === name);
  if (found === undefined) throw new Error(`${role} has no ${name}`);
  return found.bytes;
}

test("the paper's actor: 28.9 GB of bf16 weights, the head again in f32, 196,608 bytes a cached token", () => {
  const plan = planMemory(apriel(), APRIEL, machine);
  const weights = bytesOf(plan, "actor", "weights, bf16, engine");
  const head = bytesOf(plan, "actor", "head, f32, engine");
  // every weight is in bf16 except the head's 131,072 × 5120 in f32
  expect(weights + head / 2).toBeCloseTo(28.86e9, -8);
  expect(head).toBe(131_072 * 5120 * 4);
  expect(bytesOf(plan, "actor", "keys and values")).toBe(192_000 * 196_608);
  expect(plan.roles.map(({ role, devices }) => [role, devices])).toEqual([
    ["actor", 32],
    ["trainer", 32],
  ]);
});

test("trainers divide moments, and with stage parameters gradients and weights of layers too", () => {
  const plan = planMemory(apriel(), APRIEL, machine);
  const sixteen = planMemory(apriel({ gpus: 48 }), APRIEL, machine);
  const all = 14_428_902_400;
  const outside = 2 * 131_072 * 5120;
  const layers = all - outside;
  const row = (name: string, of: Pick<MemoryPlan, "roles"> = plan) => bytesOf(of, "trainer", name);
  expect((row("optimizer moments, f32") * 32) / (all * 8)).toBeCloseTo(1, 3);
  expect(row("optimizer moments, f32", sixteen) / row("optimizer moments, f32")).toBeCloseTo(2, 3);
  // the card holds a window of 2 to 4 of the 48 layers; the host has the rest, and all of them during a publication
  const window = row("a layer's weights, f32, being gathered") / ((layers / 48) * 4);
  expect(window).toBeGreaterThan(2);
  expect(window).toBeLessThan(4);
  expect(plan.hostRows).toContainEqual({
    name: "master weights, f32, while they are published",
    bytes: all * 4,
  });
  expect(row("gradients, f32")).toBeLessThan(all);
  const stage = (name: "optimizer" | "gradients") =>
    measureMemory(apriel({ sharding: { stage: name } }), APRIEL, machine); // without advice, which takes seconds to find
  expect(stage("gradients").hostRows.map(({ name }) => name)).not.toContain(
    "master weights, f32, while they are published",
  );
  expect(row("master weights, f32", stage("gradients"))).toBeCloseTo(all * 4, -6);
  expect(row("gradients, f32", stage("gradients"))).toBe(row("gradients, f32"));
  expect(row("gradients, f32", stage("optimizer"))).toBeGreaterThan(all * 4);
});

test("processes on the CPU share their machine's memory, and each machine has its part of them", () => {
  const of = (hardware: object) =>
    measureMemory({ ...smallRecipe(), hardware } as Recipe, TINY, { memory: 64 * 2 ** 30, threads: 2 });
  const one = of({ processes: { actors: 3, trainers: 2 } });
  expect(one.roles.map(({ role, devices }) => [role, devices])).toEqual([
    ["actor", 3],
    ["trainer", 2],
  ]);
  const [actor, trainer] = one.roles.map(({ total }) => total);
  expect(one.together).toEqual({ nodes: 1, total: 3 * actor! + 2 * trainer! });
  expect(() => bytesOf(one, "actor", "gradients, f32")).toThrow("has no");
  expect(() => bytesOf(one, "trainer", "keys and values")).toThrow("has no");
  const moments = (plan: typeof one, role: string) => bytesOf(plan, role, "optimizer moments, f32");
  const alone = of({ processes: { actors: 3, trainers: 0 } });
  expect(moments(one, "trainer") / moments(alone, "coordinator")).toBeCloseTo(1 / 2, 2);
  const two = of({ processes: { actors: 3, trainers: 2 }, nodes: 2 });
  expect(two.together!.total).toBeLessThan(one.together!.total);
  const tight = { ...one, capacity: one.together!.total - 1, recomputeSaves: 0 };
  expect(() => expectFit(tight)).toThrow(/its processes need .* on one machine \(3 x actor .*, 2 x trainer/);
});

test("one GPU does both and needs no NCCL", () => {
  const plan = planMemory(apriel({ gpus: 1, actorGpus: undefined } as object), TINY, machine);
  expect(plan.roles.map(({ role, devices }) => [role, devices])).toEqual([["actor and trainer", 1]]);
  expect(plan.roles[0]!.rows.map(({ name }) => name).filter((name) => name.startsWith("NCCL"))).toEqual([]);
  expect(plan.roles[0]!.total).toBe(plan.roles[0]!.rows.reduce((sum, { bytes }) => sum + bytes, 0));
});

test("what fits of keys and values is what is left, in whole pages; asking for it is the most that passes", () => {
  const { roles } = planMemory(apriel(), APRIEL, machine);
  const { fit = 0, asked } = roles[0]!.keyValueTokens;
  expect(asked).toBe(192_000);
  expect(fit % 16).toBe(0);
  const just = apriel({}, { pages: fit / 16 });
  const over = apriel({}, { pages: fit / 16 + 1 });
  expect(() => expectFit(planMemory(just, APRIEL, machine))).not.toThrow();
  const hint = expect.stringContaining(`--set engine.pages=${fit / 16}`);
  expect(() => expectFit(planMemory(over, APRIEL, machine))).toThrow(expect.objectContaining({ hint }));
  expect(roles[1]!.keyValueTokens).toEqual({ asked: 0, fit: 0 });
});

test("what cannot fit is refused with its largest classes and the settings that make it fit", () => {
  const plan = planMemory(apriel({}, { pages: 40_000 }), APRIEL, machine);
  const found = (() => {
    try {
      expectFit(plan);
    } catch (error) {
      return error as Error & { code: string; hint: string };
    }
  })();
  expect(found?.code).toBe("HONE_ERR_OUT_OF_MEMORY");
  expect(found?.message).toMatch(
    /^this recipe does not fit H100: actor needs \d+\.\d GiB of 80\.0 GiB \(keys and values \d+\.\d GiB, /,
  );
  expect(found?.hint).toMatch(/^What makes it fit, cheapest first: --set engine\.pages=\d+/);
});

test("what recompute saves is what the activations shrink by", () => {
  const [kept, again] = [false, true].map((recompute) =>
    planMemory(apriel({ recompute, gpuMemoryGiB: 999 }), APRIEL, machine),
  );
  const activations = (plan: MemoryPlan) => bytesOf(plan, "trainer", "activations");
  const saved = activations(kept!) - activations(again!);
  expect(saved).toBeGreaterThan(0.8 * activations(kept!));
  expect([kept!.recomputeSaves, again!.recomputeSaves]).toEqual([saved, saved]);
});

test.runIf(longest)("a recipe whose device is the CPU is planned for it, whatever hardware it names", () => {
  const recipe = { ...apriel({ recompute: false, sharding: undefined } as object), device: "cpu" } as const;
  const plan = measureMemory(recipe, TINY, machine);
  expect(plan).toMatchObject({ device: "CPU", capacity: machine.memory });
  expect(plan.roles).toEqual(measureMemory({ ...recipe, hardware: undefined }, TINY, machine).roles);
  expect(measureMemory(recipe, TINY, machine, 2 ** 30)).toMatchObject({ device: "H100", capacity: 2 ** 30 });
});

test.runIf(longest)(
  "for a GPU that nothing names it is this machine's; what is asked for, then the recipe, come before it",
  () => {
    const gpu = { name: "A100", memory: 40 * 2 ** 30 };
    const cuda = { ...smallRecipe(), device: "cuda" } as Recipe;
    const named = {
      ...cuda,
      hardware: apriel({ gpus: 1, actorGpus: undefined } as object).hardware,
    } as Recipe;
    const found = (recipe: Recipe, machine_: object, asked?: number) => {
      const { device, capacity, roles } = measureMemory(recipe, TINY, { ...machine, ...machine_ }, asked);
      return [device, capacity, roles[0]!.rows.some(({ name }) => name === "weights, bf16, engine")];
    };
    expect(found(cuda, { gpu })).toEqual(["A100", 40 * 2 ** 30, true]);
    expect(found(cuda, { gpu }, 2 ** 30)).toEqual(["GPU", 2 ** 30, true]);
    expect(found(named, { gpu })).toEqual(["H100", 80 * 2 ** 30, true]);
    expect(found({ ...cuda, device: "cpu" } as Recipe, { gpu })).toEqual(["CPU", machine.memory, false]);
  },
);

test("for a GPU that nobody knows the plan says what is needed, never against the memory of this machine", () => {
  const cuda = { ...smallRecipe(), device: "cuda" } as Recipe;
  const unknown = planMemory(cuda, TINY, machine);
  const known = planMemory(cuda, TINY, machine, 24 * 2 ** 30);
  expect(unknown).not.toHaveProperty("capacity");
  expect(unknown.device).toBe("GPU");
  expect(unknown.roles).toEqual(
    known.roles.map(({ keyValueTokens: { asked }, ...role }) => ({ ...role, keyValueTokens: { asked } })),
  );
  expect(() => expectFit(unknown)).not.toThrow();
  expect(() => expectFit(planMemory(cuda, TINY, machine, 2 ** 20))).toThrow("does not fit GPU");
});

test("without hardware it is the CPU's memory, every weight several times over in f32", () => {
  const plan = planMemory(smallRecipe(), TINY, machine);
  expect(plan).toMatchObject({ device: "CPU", capacity: machine.memory });
  expect(bytesOf(plan, "actor and trainer", "optimizer moments, f32")).toBe(596_049_920 * 8);
  expect(() => expectFit(plan)).toThrow("does not fit CPU: actor and trainer needs");
  const bf16 = { ...smallRecipe(), model: { folder: "x/y", weightStorage: "bf16" } } as Recipe;
  const halved = planMemory(bf16, TINY, machine);
  const name = "weights, trainer";
  const layers = 28 * plan.network.layerMatrices;
  expect(bytesOf(plan, "actor and trainer", name) - bytesOf(halved, "actor and trainer", name)).toBe(
    layers * 2,
  );
});

test("adapters on the CPU leave a base of bf16 as it is stored, and share with the engine what they do not change", () => {
  const recipe = { ...smallRecipe(), lora: { rank: 8, alpha: 16, targets: "all-linear" } } as Recipe;
  const published = (more: object) => JSON.stringify({ ...JSON.parse(TINY), ...more });
  const of = (config: string, name: string) =>
    bytesOf(planMemory(recipe, config, machine), "actor and trainer", name);
  const stored = published({ dtype: "bfloat16" });
  expect(of(published({ dtype: "float32" }), "frozen base, f32")).toBe(596_049_920 * 4);
  expect(of(stored, "frozen base, bf16")).toBe(596_049_920 * 2);
  const quantized = published({ dtype: "bfloat16", quantization_config: { quant_method: "fp8" } });
  expect(of(quantized, "frozen base, f32")).toBe(596_049_920 * 4);
  for (const [config, bytes] of [
    [stored, 2],
    [published({ dtype: "float32" }), 4],
  ] as const) {
    const shared = of(config, "weights, trainer") - of(config, "weights, engine");
    const norm = shared - 151_936 * 1024 * bytes; // beside the head, which is as the base is stored
    expect(norm).toBeGreaterThan(0);
    expect(norm).toBeLessThan(8192);
  }
});

test("a reference policy is a trainer more, that divides as the first does and only scores", () => {
  const kl = { ...apriel(), objective: { ...apriel().objective, klCoef: 0.1 } };
  const plan = planMemory(kl, APRIEL, machine);
  const row = (name: string) => bytesOf(plan, "trainer", name);
  const reference = row("reference policy, a trainer that only scores");
  expect(reference).toBeGreaterThan(
    row("a layer's weights, f32, being gathered") + row("weights, bf16, trainer"),
  );
  expect(reference).toBeLessThan(14_428_902_400 * 2);
});

test.runIf(longest)(
  "on the CPU a reference policy is a second trainer that only scores: no gradients, no moments",
  () => {
    const plain = smallRecipe();
    const kl = { ...plain, objective: { ...plain.objective, klCoef: 0.1 } } as Recipe;
    const [two, one] = [kl, plain].map((recipe) => measureMemory(recipe, TINY, machine));
    const times = (name: string) =>
      bytesOf(two!, "actor and trainer", name) / bytesOf(one!, "actor and trainer", name);
    for (const name of ["master weights, f32", "weights, trainer", "activations"]) {
      expect([name, times(name)]).toEqual([name, 2]);
    }
    for (const name of ["gradients, f32", "optimizer moments, f32"])
      expect([name, times(name)]).toEqual([name, 1]);
  },
);

test("two GPUs need NCCL's buffers; a tied head is no matrix of its own", () => {
  const plan = planMemory(apriel({ gpus: 2, actorGpus: 1 }), TINY, machine);
  expect(bytesOf(plan, "actor", "NCCL: a bucket of weights, channels")).toBe((64 + 256) * 2 ** 20);
  expect(() => bytesOf(plan, "actor", "head, f32, engine")).toThrow("has no");
  expect(() => bytesOf(plan, "trainer", "head, f32, trainer")).toThrow("has no");
});

test("adapters on a GPU leave the base in f32 to the host, which the plan counts", () => {
  const gpu = { name: "A100", memory: 40 * 2 ** 30 };
  const lora = {
    ...smallRecipe(),
    device: "cuda",
    lora: { rank: 8, alpha: 16, targets: "all-linear" },
  } as Recipe;
  const base = { name: "frozen base, f32", bytes: 596_049_920 * 4 };
  const copy = { name: "a checkpoint on its way" };
  expect(planMemory(lora, TINY, { ...machine, gpu }).hostRows).toMatchObject([base, copy]);
  expect(planMemory({ ...lora, device: "cpu" }, TINY, machine).hostRows).toEqual([]);
  const { lora: _, ...full } = lora;
  const whole = [{ ...copy, bytes: 596_049_920 * 12 }];
  expect(planMemory(full as Recipe, TINY, { ...machine, gpu }).hostRows).toMatchObject(whole);
});

test("gradients of domains lie on the host of a GPU, and where it is this machine they have to fit", () => {
  const gpu = { name: "A100", memory: 400 * 2 ** 30 };
  const metrics = { gradients: { everySteps: 5, noiseScale: true } };
  const small = smallRecipe();
  const checkpoint = { ...small.checkpoint, async: false };
  const recipe = { ...small, device: "cuda", metrics, checkpoint } as Recipe;
  const [row] = planMemory(recipe, TINY, { ...machine, gpu }).hostRows;
  expect(row).toMatchObject({ name: "gradients of domains against each other" });
  const room = (memory: number) => planMemory(recipe, TINY, { ...machine, gpu, memory });
  expect(room(row!.bytes).advice).toBeUndefined();
  const tight = room(row!.bytes - 1);
  expect(() => expectFit(tight)).toThrow(/its host needs .*gradients of domains against each other/);
  expect(tight.advice!.proposals[0]!.changes.map(({ name }) => name)).toEqual([
    "metrics.gradients.noiseScale",
  ]);
  expect(planMemory(recipe, TINY, { ...machine, memory: 1 }).advice).toBeUndefined();
});

test("hardware that names no memory is this machine's GPU, under the recipe's name for it if it has one", () => {
  const gpu = { name: "A100", memory: 40 * 2 ** 30 };
  const on = (hardware: object) =>
    measureMemory({ ...smallRecipe(), device: "cuda", hardware } as Recipe, TINY, { ...machine, gpu });
  expect(on({ gpus: 1, recompute: true })).toMatchObject({ device: "A100", capacity: gpu.memory });
  expect(on({ gpus: 1, recompute: true, gpu: "mine" })).toMatchObject({
    device: "mine",
    capacity: gpu.memory,
  });
  expect(on({ gpus: 1, recompute: true, gpuMemoryGiB: 4 })).toMatchObject({
    device: "GPU",
    capacity: 2 ** 32,
  });
});

test("a micro-batch is planned for the longest sequence where that is longer than its budget", () => {
  const scratch = (packedTokens: number) =>
    bytesOf(measureMemory(smallRecipe({ packedTokens }), TINY, machine), "actor and trainer", "activations");
  expect(scratch(16)).toBe(scratch(88)); // the longest sequence has 64 prompt and 24 answer tokens
  expect(scratch(176)).toBeGreaterThan(1.5 * scratch(88));
});
