import { HoneError } from "../errors.ts";

/** Settings of a recipe for N processes beside the run's own: one trains, the others sample. Throws HONE_ERR_USAGE. */
export function processSettings(number: string): string[] {
  if (!/^\d{1,2}$/.test(number) || Number(number) < 2 || Number(number) > 64)
    throw new HoneError(
      "HONE_ERR_USAGE",
      `--processes is ${JSON.stringify(number)}, not a number from 2 to 64`,
    );
  return [`hardware.processes.actors=${Number(number) - 1}`, "hardware.processes.trainers=1"];
}
