import { HoneError } from "./errors.ts";

/** Device on which engines and trainers compute. "cuda" is the first GPU that the process sees (CUDA_VISIBLE_DEVICES). */
export type DeviceName = "cpu" | "cuda";
export const DEVICES = ["cpu", "cuda"] as const satisfies readonly DeviceName[];

/** @param where the name of the option, for the message. Throws HONE_ERR_USAGE for any other name. */
export function deviceOf(name: string, where: string): DeviceName {
  const known = DEVICES.find((device) => device === name);
  if (known !== undefined) return known;
  const hint = /gpu|cuda|nvidia/i.test(name)
    ? { hint: 'A GPU is "cuda": the first GPU of CUDA_VISIBLE_DEVICES, or of the machine.' }
    : {};
  throw new HoneError(
    "HONE_ERR_USAGE",
    `${where} is ${JSON.stringify(name)}; known: ${DEVICES.join(", ")}`,
    hint,
  );
}

/** The default device: the one in the environment variable HONE_DEVICE, else the CPU. */
export function defaultDevice(): DeviceName {
  const named = process.env["HONE_DEVICE"];
  return named === undefined || named === "" ? "cpu" : deviceOf(named, "HONE_DEVICE");
}
