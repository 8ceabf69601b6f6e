import { type Recipe, rolesOf } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import type { NativeInfo } from "../../native/face.ts";

type Asked = Pick<Recipe, "name" | "device" | "hardware">;

/** Throws what `whyNotRunnable` finds. */
export function expectRunnable(recipe: Asked, info: NativeInfo, spread = false): void {
  const fault = whyNotRunnable(recipe, info, spread);
  if (fault !== undefined) throw fault;
}

/**
 * Returns why this version cannot run a recipe on this machine, for `hone run` and `hone check` alike:
 * HONE_ERR_UNSUPPORTED for hardware that this version cannot use, or that this machine lacks; HONE_ERR_CUDA
 * if it needs a GPU and there is none; undefined if it can.
 * @param spread true if agents start its processes elsewhere, each with its own GPU
 */
export function whyNotRunnable(recipe: Asked, info: NativeInfo, spread = false): HoneError | undefined {
  const why = whyNotSpread(recipe, spread);
  if (why !== undefined || recipe.device === "cpu") return why;
  return whyNoGpu(recipe, info, spread);
}

function whyNotSpread({ name, device, hardware }: Asked, spread: boolean): HoneError | undefined {
  const { gpus = 1, nodes = 1 } = hardware ?? {};
  if (nodes > 1 && !spread)
    return new HoneError(
      "HONE_ERR_UNSUPPORTED",
      `${name} cannot be run: hardware.nodes is ${nodes}, and this is one machine`,
      { hint: "`npx hone launch` writes the file that starts it on several; or --set hardware.nodes=1." },
    );
  if (gpus === 1 || rolesOf({ device, hardware }) !== undefined) return undefined;
  const reason = `hardware.gpus is ${gpus}, and nothing says how many of them sample and how many train`;
  return new HoneError("HONE_ERR_UNSUPPORTED", `${name} cannot be run: ${reason}`, {
    hint: "Set hardware.actorGpus, for example --set hardware.actorGpus=1: a process has one GPU; with several GPUs each process either samples or trains.",
  });
}

function whyNoGpu(
  { name, device, hardware }: Asked,
  { cuda }: NativeInfo,
  spread: boolean,
): HoneError | undefined {
  const roles = rolesOf({ device, hardware });
  const wanted = spread || roles === undefined ? 1 : roles.actors + Math.max(1, roles.trainers);
  const found = cuda.devices.length;
  if (found >= wanted) return undefined;
  if (found > 0)
    return new HoneError(
      "HONE_ERR_UNSUPPORTED",
      `${name} cannot be run here: ${wanted} processes sample and train, with a GPU each, and this machine has ${found}`,
      {
        hint: "`npx hone launch` writes the file that starts them on several machines; or give fewer processes.",
      },
    );
  const { gpu = "a GPU" } = hardware ?? {};
  return new HoneError("HONE_ERR_CUDA", `${name} is meant for ${gpu}: ${cuda.reason ?? "no GPU was found"}`, {
    hint: "`npx hone doctor` shows what was found. To run on the CPU, give --device cpu.",
  });
}
