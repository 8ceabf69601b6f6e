import { type HashedModule, loadHashed } from "../hashed-module.ts";
import { moduleUrl } from "../user-module.ts";

/** A function of the recipe that converts a row of a file to the row that is read instead; null drops the row. */
export type RowMap = (row: never) => unknown;

/** Form of a map in a recipe, which JSON can hold: a function by name, or a module by place, each with a hash. */
export type WrittenMap = { readonly function: string; readonly sha256: string } | HashedModule;

/** Key under which the recipe's placeholder of a function holds the function, in the process that received it. */
const FUNCTION = Symbol.for("hone.recipe.map");

/** Attaches the function to its placeholder in a recipe. */
export function keepRowMap(written: object, map: RowMap): void {
  Object.defineProperty(written, FUNCTION, { value: map });
}

/**
 * The map's function, given directly or attached to its placeholder in a resolved recipe; undefined for a module, and
 * in processes that do not have the function.
 */
export function rowMapOf(written: unknown): RowMap | undefined {
  if (typeof written === "function") return written as RowMap;
  return (written as { [FUNCTION]?: RowMap } | undefined)?.[FUNCTION];
}

const USE = {
  what: "map",
  code: "HONE_ERR_CONFIG",
  hint: 'Give a path relative to the working folder, such as "./rows.ts#toRow".',
} as const;

/** Loads the function of a module. Throws HONE_ERR_CONFIG if its hash differs from the recipe's, or it cannot be loaded. */
export const loadRowMap = ({ module, sha256 }: HashedModule): Promise<RowMap> =>
  loadHashed<RowMap>({ module: moduleUrl(module), sha256 }, USE);
