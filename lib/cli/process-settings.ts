import { HoneError } from "../errors.ts";

/**
 * Recipe settings for N processes besides the run's own: half of them train, the others sample; without Gloo
 * one trains and `say` receives a sentence about it. Throws HONE_ERR_USAGE.
 */
export async function processSettings(number: string, say: (line: string) => void): Promise<string[]> {
  if (!/^\d{1,2}$/.test(number) || Number(number) < 2 || Number(number) > 64)
    throw new HoneError(
      "HONE_ERR_USAGE",
      `--processes is ${JSON.stringify(number)}, not a number from 2 to 64`,
    );
  const trainers = await possibleTrainers(Math.floor(Number(number) / 2), say);
  return [
    `hardware.processes.actors=${Number(number) - trainers}`,
    `hardware.processes.trainers=${trainers}`,
  ];
}

async function possibleTrainers(wanted: number, say: (line: string) => void): Promise<number> {
  if (wanted === 1) return 1;
  const { info } = await import("../native/index.ts");
  const { version, reason } = info().gloo;
  if (version !== null) return wanted;
  say(`one process trains instead of ${wanted}, which would communicate over Gloo: ${reason}`);
  return 1;
}
