import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { planRecipe, planText, UNKNOWN_MEMORY } from "../../lib/cli/plan.ts";
import type { Recipe } from "../../lib/config/index.ts";
import { info } from "../../lib/native/index.ts";
import { temporaryFolder } from "../fixtures/model-folder.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const folder = (name: string) =>
  ({ ...smallRecipe(), model: { folder: name, weightStorage: "bf16" } }) as Recipe;
const hardware = { gpu: "H100", gpuMemoryGiB: 80, gpus: 4, actorGpus: 3, recompute: false };

test("every class with its share, the total, what is free, and the tokens that fit", async () => {
  const recipe = { ...folder("Qwen/Qwen3-0.6B"), device: "cuda", hardware } as const;
  const text = planText(recipe, await planRecipe(recipe));
  expect(text.split("\n")[0]).toMatch(/: 596,049,920 parameters on H100, 80\.0 GiB each$/);
  expect(text).toMatch(/^actor, each of 3 GPUs$/m);
  expect(text).toMatch(/^trainer$/m);
  expect(text).toMatch(/^ {2}weights, bf16, engine +1\.1 GiB {2}1\.4 %$/m);
  expect(text).toMatch(/^ {2}free +\d+\.\d GiB +\d+\.\d %$/m);
  expect(text).toMatch(/^ {2}keys and values of [\d,]+ tokens asked for; [\d,]+ would fit$/m);
  // right-aligned: all lines of a table end in the same column
  const ends = text.split("\n").filter((line) => line.endsWith(" %"));
  expect(new Set(ends.slice(0, 4).map((line) => line.length)).size).toBe(1);
});

test("of a mixture of experts it says how many weights a token meets, on the CPU and on a GPU", async () => {
  using models = temporaryFolder();
  const published = JSON.parse(readFileSync("test/fixtures/models/published.json", "utf8"));
  const { config } = published["Qwen/Qwen3-30B-A3B"];
  writeFileSync(join(models.path, "config.json"), JSON.stringify(config));
  const recipe = { ...folder(models.path), device: "cpu" } as Recipe;
  const text = planText(recipe, await planRecipe(recipe));
  expect(text).toMatch(/30,532,122,624 parameters, 3,353,032,704 of them active for a token, on CPU/);
  expect(text).toMatch(/^ {2}128 experts of 768, 8 a token, vocabulary 151936$/m);
  const onGpu = planText(recipe, await planRecipe(recipe, "80GiB"));
  expect(onGpu).toMatch(/3,353,032,704 of them active for a token, on GPU, 80\.0 GiB each/);
  expect(onGpu).toMatch(/^ {2}weights, bf16, engine +56\.3 GiB/m); // 2 bytes a parameter, the head apart
});

test("--gpu-memory plans for another card, and for a GPU where the recipe names none", async () => {
  const small = planText(folder("Qwen/Qwen3-8B"), await planRecipe(folder("Qwen/Qwen3-8B"), "24GiB"));
  expect(small).toMatch(/on GPU, 24\.0 GiB each/);
  expect(small).toMatch(/^ {2}over +\d+\.\d GiB/m);
  await expect(planRecipe(smallRecipe(), "much")).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    message: '--gpu-memory is "much", which is not an amount of memory',
  });
  await expect(planRecipe(smallRecipe(), "80")).rejects.toMatchObject({
    message: '--gpu-memory is "80", which is 80 B, less than any GPU has',
    hint: "Give it as 80GiB.",
  });
  await expect(planRecipe(smallRecipe(), "0")).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});

test("a recipe for a GPU it does not name is held against the first one here, asked only then", async () => {
  const cuda = { ...folder("Qwen/Qwen3-0.6B"), device: "cuda" } as Recipe;
  let asked = 0;
  const gpu = async () => {
    asked++;
    return { name: "NVIDIA H100", memory: 80 * 2 ** 30 };
  };
  const text = planText(cuda, await planRecipe(cuda, undefined, gpu));
  expect(text.split("\n")[0]).toMatch(/ parameters on NVIDIA H100, 80\.0 GiB each$/);
  expect(asked).toBe(1);
  await planRecipe(cuda, "24GiB", gpu);
  await planRecipe({ ...cuda, hardware }, undefined, gpu);
  await planRecipe({ ...cuda, device: "cpu" }, undefined, gpu);
  expect(asked).toBe(1);
});

test("where there is no GPU to ask it is not known, and the text says what to pass", async () => {
  const cuda = { ...folder("Qwen/Qwen3-0.6B"), device: "cuda" } as Recipe;
  const text = planText(cuda, await planRecipe(cuda, undefined, async () => undefined));
  expect(text.split("\n")[0]).toMatch(/ parameters on GPU, memory unknown$/);
  expect(text).toMatch(/^ {2}total +\d+\.\d GiB$/m);
  expect(text).not.toMatch(/%|free|over|would fit/);
  expect(text.split("\n").at(-1)).toBe(UNKNOWN_MEMORY);
  expect(UNKNOWN_MEMORY).toMatch(/--gpu-memory 80GiB .* hardware: \{ gpu, gpuMemoryGiB \}$/);
});

test("the machine is asked through the core: its GPU, or none", async () => {
  const cuda = { ...folder("Qwen/Qwen3-0.6B"), device: "cuda" } as Recipe;
  const { devices, memoryBytes } = info().cuda;
  const plan = await planRecipe(cuda);
  expect(plan.capacity).toBe(memoryBytes ?? undefined);
  expect(devices[0] ?? "GPU (none)").toContain(`${plan.device} (`);
});

test("what does not fit is followed by the settings that make it fit, with what each costs", async () => {
  const recipe = { ...folder("Qwen/Qwen3-8B"), device: "cuda" } as Recipe;
  const text = planText(recipe, await planRecipe(recipe, "48GiB"));
  expect(text).toMatch(/^ {2}1\. --set \S+/m);
  expect(text).toMatch(/^ {5}lora: adapters are trained and the weights are not; /m);
  expect(text).toMatch(/^ {5}then \d+\.\d GiB; keys and values of [\d,]+ tokens fit$/m);
  const none = planText(recipe, await planRecipe(recipe, "1GiB"));
  expect(none).toMatch(/^No change makes it fit here\.\n {3}The minimum it needs is \d+\.\d GiB, by --set /m);
  expect(planText(recipe, await planRecipe(recipe, "999GiB"))).not.toMatch(/--set|No change makes/);
});

test("with adapters on a GPU the memory of the host is told", async () => {
  const recipe = {
    ...folder("Qwen/Qwen3-0.6B"),
    device: "cuda",
    lora: { rank: 8, alpha: 16, targets: "all-linear" },
  };
  const text = planText(recipe as Recipe, await planRecipe(recipe as Recipe, "24GiB"));
  expect(text).toMatch(/^2\.2 GiB of the host's own memory: frozen base, f32$/m);
});
