import { type HubOrigin, isDataFile } from "../../data/index.ts";
import { type DatasetSpec, type KindUse, kindFor, parseDatasetSpec } from "../../domains/index.ts";
import { isHubPath, type ResolveOptions, resolveDataset } from "../../inference/index.ts";

type Source = string | DatasetSpec;

/** A source whose data sets of the Hub are files here, and where they came from. */
export interface LocalSource<S extends Source = Source> {
  readonly source: S;
  readonly hub: readonly HubOrigin[];
}

/** True if a source names a data set of the Hub: "hf:org/name", "taco:hf:org/name", or a path of such a name. */
export function isHubSource(source: Source): boolean {
  if (typeof source === "string" && isHubPath(source)) return true;
  const spec = typeof source === "string" ? parseDatasetSpec(source) : source;
  return [spec?.path ?? []].flat().some(isHubPath);
}

/** True if a source is a path alone, so that its kind follows from its rows: "hf:org/name", "data/mine.jsonl". */
export const isPathAlone = (source: Source): source is string =>
  typeof source === "string" &&
  (isHubPath(source) || (parseDatasetSpec(source) === undefined && isDataFile(source)));

/**
 * The source with the files in the place of every "hf:org/name/config:split@revision", downloaded where they are not here;
 * of a source that is a path alone, with the kind that the rows are of. Others stay as they are.
 * @param pinned commits of a run that goes on, which stand for the revisions of their repositories.
 * Throws what resolveDataset throws.
 */
export async function localSource(
  source: Source,
  use: KindUse,
  pinned: readonly HubOrigin[] = [],
  options: ResolveOptions = {},
): Promise<LocalSource> {
  if (isPathAlone(source)) {
    const { paths, hub } = await localPaths(source, undefined, pinned, options);
    return { source: await kindFor(paths, use), hub };
  }
  if (!isHubSource(source)) return { source, hub: [] };
  const spec = typeof source === "string" ? parseDatasetSpec(source)! : source;
  return localSpec(spec, pinned, options);
}

/** The same for a data set whose kind is known. */
export async function localSpec(
  spec: DatasetSpec,
  pinned: readonly HubOrigin[] = [],
  options: ResolveOptions = {},
): Promise<LocalSource<DatasetSpec>> {
  const { paths, hub } = await localPaths(spec.path, spec.split, pinned, options);
  return hub.length === 0 ? { source: spec, hub } : { source: { ...spec, path: paths }, hub };
}

/** Files of every data set of the Hub among paths, each in its place. @param split for those whose name has none. */
export async function localPaths(
  path: string | readonly string[],
  split?: string,
  pinned: readonly HubOrigin[] = [],
  options: ResolveOptions = {},
): Promise<{ readonly paths: readonly string[]; readonly hub: readonly HubOrigin[] }> {
  const hub: HubOrigin[] = [];
  const paths: string[] = [];
  for (const one of [path].flat()) {
    if (!isHubPath(one)) {
      paths.push(one);
      continue;
    }
    const name = split === undefined || one.includes(":", "hf:".length) ? one : withSplit(one, split);
    const known = pinned.find((origin) => origin.name === name);
    const found = await resolveDataset(name, options, known?.commit);
    hub.push({ name, commit: found.commit });
    paths.push(...found.files);
  }
  return { paths, hub };
}

function withSplit(name: string, split: string): string {
  const [path, ...revision] = name.split("@") as [string, ...string[]];
  return [`${path}:${split}`, ...revision].join("@");
}
