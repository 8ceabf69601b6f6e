import { type HubOrigin, isDataFile } from "../../data/index.ts";
import { type DatasetSpec, type KindUse, kindFor, parseDatasetSpec } from "../../domains/index.ts";
import { isHubPath, type ResolveOptions, resolveDataset } from "../../inference/index.ts";

type Source = string | DatasetSpec;

/** A source whose Hub data sets are replaced by local files, and the origin of these files. */
export interface LocalSource<S extends Source = Source> {
  readonly source: S;
  readonly hub: readonly HubOrigin[];
}

/** True if a source names a Hub data set: "hf:org/name", "taco:hf:org/name", or a path of such a name. */
export function isHubSource(source: Source): boolean {
  if (typeof source === "string" && isHubPath(source)) return true;
  const spec = typeof source === "string" ? parseDatasetSpec(source) : source;
  return [spec?.path ?? []].flat().some(isHubPath);
}

/** True if a source is only a path, so that its kind is detected from its rows: "hf:org/name", "data/mine.jsonl". */
export const isPathAlone = (source: Source): source is string =>
  typeof source === "string" &&
  (isHubPath(source) || (parseDatasetSpec(source) === undefined && isDataFile(source)));

/**
 * The source with local files in place of every "hf:org/name/config:split@revision", downloaded if they are missing;
 * for a source that is only a path, with the detected kind. Returns other sources unchanged.
 * @param pinned commits recorded by a resumed run, which replace the revisions of their repositories. Throws the
 * errors of resolveDataset.
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

/** Like localSource, for a data set whose kind is known. */
export async function localSpec(
  spec: DatasetSpec,
  pinned: readonly HubOrigin[] = [],
  options: ResolveOptions = {},
): Promise<LocalSource<DatasetSpec>> {
  const { paths, hub } = await localPaths(spec.path, spec.split, pinned, options);
  return hub.length === 0 ? { source: spec, hub } : { source: { ...spec, path: paths }, hub };
}

/** The paths, with Hub data sets replaced by their files. @param split for Hub data sets whose name gives no split */
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
