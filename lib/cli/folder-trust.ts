import type { Recipe } from "../config/index.ts";
import { type Demand, Trust } from "../trust.ts";

/** Options of every command that executes what a folder's record names. */
export interface TrustFlags {
  readonly trust?: boolean;
  readonly recipe?: string;
}

export const TRUST = [
  "--trust",
  "load the modules and contact the servers that the folder's record names (docs/explanation/security.md)",
] as const;

/**
 * Returns what a folder's record may make this process execute: everything with --trust, what the recipe names if one
 * is given, otherwise nothing.
 */
export async function trustOf(
  { trust }: TrustFlags,
  recipe?: Recipe,
  demandsOf?: (recipe: Recipe) => readonly Demand[],
): Promise<Trust> {
  if (trust) return Trust.all;
  if (recipe === undefined) return Trust.none(how());
  const { recipeDemands } = await import("../config/index.ts");
  return Trust.alike(
    (demandsOf ?? ((own) => recipeDemands(own, ["problems", "verifiers", "objective"])))(recipe),
    how(),
  );
}

/** The command to repeat, as a shell takes it. */
function how(): string {
  const command = ["hone", ...process.argv.slice(2).map(quoted), "--trust"].join(" ");
  return `If you know the folder's origin and these files: ${command}. Or name a recipe of yours with the same modules: --recipe <file>.`;
}

const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
