import { type Recipe, rolesOf, shardingOf } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import type { NativeInfo } from "../../native/face.ts";

type Asked = Pick<Recipe, "name" | "device" | "hardware">;

/** Throws what `whyNotRunnable` finds. */
export function expectRunnable(recipe: Asked, info: NativeInfo, spread = false): void {
  const fault = whyNotRunnable(recipe, info, spread);
  if (fault !== undefined) throw fault;
}

/**
 * Whether this version can run a recipe on this machine, for `hone run` and `hone check` alike: HONE_ERR_UNSUPPORTED for
 * hardware this version cannot use; HONE_ERR_CUDA where it runs on a GPU and there is none.
 * @param spread its processes are elsewhere: agents have started them, each with a GPU of its own.
 */
export function whyNotRunnable(
  { name, device, hardware }: Asked,
  { cuda }: NativeInfo,
  spread = false,
): HoneError | undefined {
  const { gpu = "a GPU", gpus = 1, nodes = 1 } = hardware ?? {};
  if (nodes > 1 && !spread)
    return new HoneError(
      "HONE_ERR_UNSUPPORTED",
      `${name} cannot be run: hardware.nodes is ${nodes}, and this is one machine`,
      { hint: "`npx hone launch` writes the file that starts it on several; or --set hardware.nodes=1." },
    );
  if (gpus > 1 && !(spread && rolesOf({ device, hardware }) !== undefined)) {
    const reason = `hardware.gpus is ${gpus}, and this version runs on one device`;
    return new HoneError("HONE_ERR_UNSUPPORTED", `${name} cannot be run: ${reason}`, {
      hint: "`npx hone plan` shows what it takes; recipes/single-gpu.ts is where one card starts.",
    });
  }
  // The core refuses it as well (csrc/trainer/sharded_optimizer.cc); this is said before anything is loaded.
  const sequence = shardingOf({ device, hardware })?.sequence ?? 1;
  if (device === "cuda" && sequence > 1) {
    const reason = `hardware.sharding.sequence is ${sequence}, and trainers have a micro-batch together on the CPU alone`;
    return new HoneError("HONE_ERR_UNSUPPORTED", `${name} cannot be run on a GPU: ${reason}`, {
      hint: "Give hardware.sharding.sequence=1, or give --device cpu.",
    });
  }
  if (device === "cpu" || cuda.devices.length > 0) return undefined;
  return new HoneError("HONE_ERR_CUDA", `${name} is meant for ${gpu}: ${cuda.reason ?? "no GPU was found"}`, {
    hint: "`npx hone doctor` shows what was found. To run on the CPU, give --device cpu.",
  });
}
