import { keepRowMap, type RowMap, rowMapOf, type WrittenMap } from "../domains/index.ts";
import { ConfigError } from "../errors.ts";
import { inPlayed } from "./environment.ts";
import { hashAt, sourceHash } from "./source-hash.ts";

/** Functions of data sets' rows by domain or validation set. */
export type RowMaps = ReadonlyMap<string, RowMap>;

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Replaces every `map` of a source in a recipe's input by its JSON form: a function name or module, and a hash. */
export function takeRowMaps(input: unknown): { readonly plain: unknown; readonly maps: RowMaps } {
  const maps = new Map<string, RowMap>();
  const plain = atMaps(input, (name, given) => {
    if (typeof given === "string") {
      const sha256 = hashAt(given);
      return sha256 === undefined ? given : { module: given, sha256 };
    }
    const map = rowMapOf(given);
    if (map === undefined) return given;
    maps.set(name, map);
    return { function: map.name || "anonymous", sha256: sourceHash(map) };
  });
  return { plain, maps };
}

/** The inverse of takeRowMaps: puts functions back into a recipe that is to be defined again. */
export function putRowMaps<T>(input: T, recipe: Mapped): T {
  const written = sourcesOf(recipe);
  return atMaps(input, (name, given) => rowMapOf(mapIn(written[name])) ?? given) as T;
}

/** Attaches the functions to a defined recipe's sources. */
export function keepRowMaps(recipe: Mapped, maps: RowMaps): void {
  const written = sourcesOf(recipe);
  for (const [name, map] of maps) {
    const one = mapIn(written[name]);
    if (typeof one === "object") keepRowMap(one, map);
  }
}

/**
 * Gives a recipe read from a run folder the functions of the entry script's recipe. Throws ConfigError unless
 * they are the functions that the run used.
 * @param where the run folder, for the message
 */
export function adoptRowMaps(recorded: Mapped, from: Mapped, where: string): void {
  const [written, own] = [sourcesOf(recorded), sourcesOf(from)];
  for (const name of Object.keys(written)) {
    const [was, is] = [mapIn(written[name]), mapIn(own[name])];
    const map = rowMapOf(is);
    if (was === undefined || is === undefined || map === undefined) continue;
    if (was.sha256 === is.sha256) keepRowMap(was, map);
    else
      throw new ConfigError("the map function of a source differs from the run's", [
        {
          path: `${name}.source.map`,
          message: `has hash ${is.sha256}; the run in ${where} has one with hash ${was.sha256}`,
        },
      ]);
  }
}

type Sources = Readonly<Record<string, { readonly source: unknown }>>;
type Mapped = { readonly domains: Sources; readonly evaluation: { readonly sets: Sources } };
const sourcesOf = ({ domains, evaluation }: Mapped): Sources => ({ ...evaluation.sets, ...domains });

const mapIn = (one: { readonly source: unknown } | undefined): WrittenMap | undefined =>
  isFields(one?.source) ? (one.source["map"] as WrittenMap | undefined) : undefined;

/** A shallow copy with the `map` of every source that has one replaced by `change`'s result. */
function atMaps(input: unknown, change: (name: string, given: unknown) => unknown): unknown {
  return inPlayed(input, (name, one) => {
    const { source } = one;
    if (!isFields(source) || source["map"] === undefined) return one;
    return { ...one, source: { ...source, map: change(name, source["map"]) } };
  });
}
