import type { Family } from "../data/family.ts";
import type { ProblemSource, SourceOptions } from "../data/problem-source.ts";
import { ProceduralSource } from "../data/procedural-source.ts";
import type { Admission } from "../data/row-judge.ts";
import { openModuleSource } from "../data/user-source.ts";
import { HoneError } from "../errors.ts";
import { isModulePlace } from "../user-module.ts";
import { DATASETS, type DatasetSpec, openDataset, parseDatasetSpec } from "./datasets.ts";
import { EPISODE_SOURCES } from "./environments/index.ts";
import { DOMAIN_ROWS } from "./registry.ts";

type LoadFamilies = () => readonly Family[] | Promise<readonly Family[]>;

/** Loaders of the families of every source of generated problems, by its name in a recipe. */
export const PROBLEM_SOURCES: Readonly<Record<string, LoadFamilies>> = Object.fromEntries([
  ...DOMAIN_ROWS.flatMap(sourcesOf),
  ...Object.entries(EPISODE_SOURCES).map(([source, families]) => [source, () => families] as const),
]);

function sourcesOf([name, { families, sources = {} }]: (typeof DOMAIN_ROWS)[number]) {
  const more: (readonly [string, LoadFamilies])[] = Object.entries(sources);
  return families ? [[`procedural/${name}`, () => families] as const, ...more] : more;
}

/**
 * Opens a source: made-up problems by name, a user's module by URL or path (user-source.ts), or a data set as an
 * object with its kind and path or as "kind:path". Throws HONE_ERR_CONFIG, listing the known names, for any other;
 * HONE_ERR_DATA when its data cannot be read.
 * @param admit called for every row of a data set; the rows it refuses are left out and counted.
 */
export function openProblemSource(
  source: string | DatasetSpec,
  options: SourceOptions,
  admit?: Admission,
): Promise<ProblemSource> {
  return open(source, options, { admit });
}

/** Opens a source for a validation set: holds out all rows of a data set unless the set selects some. */
export function openValidationSource(
  source: string | DatasetSpec,
  options: SourceOptions,
  admit?: Admission,
): Promise<ProblemSource> {
  return open(source, options, { admit, validates: true });
}

async function open(
  source: string | DatasetSpec,
  options: SourceOptions,
  { admit, validates }: { readonly admit: Admission | undefined; readonly validates?: boolean },
): Promise<ProblemSource> {
  const dataset = typeof source === "string" ? parseDatasetSpec(source) : source;
  if (dataset !== undefined) return openDataset(dataset, options, admit, validates);
  const name = source as string;
  if (isModulePlace(name)) return openModuleSource(name, options);
  const load = Object.hasOwn(PROBLEM_SOURCES, name) ? PROBLEM_SOURCES[name] : undefined;
  if (!load) {
    const known = [...Object.keys(PROBLEM_SOURCES), ...Object.keys(DATASETS).map((kind) => `${kind}:<path>`)];
    throw new HoneError(
      "HONE_ERR_CONFIG",
      `no problem source is called ${JSON.stringify(name)}; known: ${known.join(", ")}`,
    );
  }
  return new ProceduralSource(await load(), options.seed, options.ordinal);
}
