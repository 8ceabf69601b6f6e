import { HoneError } from "../errors.ts";

interface Wanted {
  /** Default: 0. */
  readonly least?: number;
  /** Text to use if the variable is not set. Without it the variable is required. */
  readonly otherwise?: string | undefined;
}

/** Parses an integer variable. Throws HONE_ERR_USAGE naming the variable that is missing or invalid. */
export function whole(environment: NodeJS.ProcessEnv, name: string, wanted: Wanted = {}): number {
  const { least = 0, otherwise } = wanted;
  const own = environment[name];
  const text = own === undefined || own === "" ? otherwise : own;
  if (text === undefined)
    throw new HoneError("HONE_ERR_USAGE", `${name} is not set, though other variables of its launcher are`, {
      details: { variable: name },
      hint: "The launcher sets all of its variables for a process that it starts: start this process through the launcher.",
    });
  if (/^\d{1,9}$/.test(text) && Number(text) >= least) return Number(text);
  throw new HoneError(
    "HONE_ERR_USAGE",
    `${name} is ${JSON.stringify(text)}; it must be an integer of at least ${least}`,
    {
      details: { variable: name },
    },
  );
}
