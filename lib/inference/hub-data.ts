import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { isDataFile } from "../data/index.ts";
import { HoneError } from "../errors.ts";
import { bringFiles, hubAccess, isUnreachable, type ResolveOptions } from "./hub.ts";
import { CachedModel, hubCacheFolder, hubIsOffline } from "./hub-cache.ts";
import { HubClient, type HubFile } from "./hub-client.ts";

/** A data set of the Hub as a recipe names it. */
export interface DatasetName {
  /** "org/name". */
  readonly repo: string;
  readonly config?: string;
  readonly split?: string;
  /** Branch, tag or commit; "main" unless given. */
  readonly revision: string;
}

export interface HubDataset {
  readonly repo: string;
  /** Commit to which the revision pointed, 40 hexadecimal digits. */
  readonly commit: string;
  /** Paths of the files on this machine, in order. */
  readonly files: readonly string[];
}

const PART = String.raw`\w(?:[\w]|[.-](?![.-]))*`;
const WORD = String.raw`[\w][\w.+-]*`;
const NAME = new RegExp(
  `^hf:(?<repo>${PART}/${PART})(?:/(?<config>${WORD}))?(?::(?<split>${WORD}))?(?:@(?<revision>${WORD}(?:/${WORD})*))?$`,
);

/** Parses "hf:org/name", optionally followed by "/config", ":split" and "@revision"; undefined for any other text. */
export function parseDatasetName(text: string): DatasetName | undefined {
  const { repo, config, split, revision = "main" } = NAME.exec(text)?.groups ?? {};
  if (repo === undefined || repo.length > 96 || revision.includes("..") || /[.-]$/.test(repo))
    return undefined;
  return { repo, revision, ...(config !== undefined && { config }), ...(split !== undefined && { split }) };
}

/** True if a path has the prefix of a Hub data set, valid or not. */
export const isHubPath = (path: string): boolean => path.startsWith("hf:");

/**
 * The files of a Hub data set, in the cache shared with Python's clients; downloads missing ones. Without a
 * network, or offline, uses the files of an earlier complete download.
 * @param pinned a commit that overrides the revision: the one recorded by a resumed run. Throws
 * HONE_ERR_USAGE for a malformed name, HONE_ERR_DATA if the repository has no such files, and the errors of
 * resolveModelFolder.
 */
export async function resolveDataset(
  text: string,
  options: ResolveOptions = {},
  pinned?: string,
): Promise<HubDataset> {
  const name = parseDatasetName(text);
  if (name === undefined)
    throw new HoneError("HONE_ERR_USAGE", `${text} is not the name of a Hub data set`, {
      hint: 'Write "hf:org/name", with "/config", ":split" and "@revision" behind it where they are needed: "hf:openai/gsm8k/main:train@main".',
    });
  const env = options.env ?? process.env;
  const cached = new CachedModel(hubCacheFolder(env), `datasets/${name.repo}`);
  const revision = pinned ?? name.revision;
  if (options.offline ?? hubIsOffline(env)) return fromCache(cached, name, revision);
  try {
    return await fromHub(cached, name, revision, options);
  } catch (cause) {
    if (!isUnreachable(cause)) throw cause;
    return fromCache(cached, name, revision).catch(() => Promise.reject(cause));
  }
}

async function fromHub(
  cached: CachedModel,
  name: DatasetName,
  revision: string,
  options: ResolveOptions,
): Promise<HubDataset> {
  const repo = `datasets/${name.repo}`;
  const client = new HubClient(hubAccess(options));
  const commit = await client.describe(repo, revision);
  const paths = new Set(
    chosenFiles(
      commit.files.map(({ path }) => path),
      name,
    ),
  );
  const wanted = commit.files.filter(({ path }) => paths.has(path));
  await bringFiles({ client, cached, repo, commit: commit.id }, wanted, options.onProgress);
  await writeListing(cached, commit.id, commit.files);
  await cached.remember(revision, commit.id);
  return {
    repo: name.repo,
    commit: commit.id,
    files: [...paths].map((path) => join(cached.snapshot(commit.id), path)),
  };
}

async function fromCache(cached: CachedModel, name: DatasetName, revision: string): Promise<HubDataset> {
  const commit = await cached.commitOf(revision);
  const fail = (what: string) =>
    new HoneError(
      "HONE_ERR_HUB",
      `data set ${name.repo}@${revision} ${what}, and offline mode forbids asking the Hub`,
      {
        hint: "Unset HF_HUB_OFFLINE once to download it, or give a folder with its files.",
        details: { reached: false },
      },
    );
  if (commit === undefined) throw fail("is not in the cache");
  const snapshot = cached.snapshot(commit);
  const paths = chosenFiles(await listing(cached, commit), name);
  const missing = paths.find((path) => !existsSync(join(snapshot, path)));
  if (missing !== undefined) throw fail(`lacks ${missing} in the cache`);
  return { repo: name.repo, commit, files: paths.map((path) => join(snapshot, path)) };
}

/** Path of the list of a commit's files, beside the snapshots: distinguishes an interrupted download from a complete one. */
const listingPath = (cached: CachedModel, commit: string): string =>
  join(cached.folder, ".hone", `${commit}.json`);

async function writeListing(cached: CachedModel, commit: string, files: readonly HubFile[]): Promise<void> {
  const path = listingPath(cached, commit);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify(files.map((file) => file.path)));
}

/**
 * Paths of a snapshot's files: those of its list; without a list, because another client downloaded it, those
 * in the folder and every further part that their names announce.
 */
async function listing(cached: CachedModel, commit: string): Promise<readonly string[]> {
  const text = await readFile(listingPath(cached, commit), "utf8").catch(() => undefined);
  if (text !== undefined) return JSON.parse(text) as string[];
  const snapshot = cached.snapshot(commit);
  const entries = await readdir(snapshot, { recursive: true, withFileTypes: true }).catch(() => []);
  const found = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(snapshot, join(entry.parentPath, entry.name)));
  return [...new Set(found.flatMap(partsOf))];
}

const SHARD = /^(.+?)-(\d{5})-of-(\d{5})(?=[-.])/;

function partsOf(path: string): string[] {
  const at = path.lastIndexOf("/") + 1;
  const [whole, stem, , total] = SHARD.exec(path.slice(at)) ?? [];
  if (whole === undefined || path.slice(at + whole.length).startsWith("-")) return [path];
  return Array.from({ length: Number(total) }, (_, i) => {
    const part = `${stem}-${String(i).padStart(5, "0")}-of-${total}`;
    return path.slice(0, at) + part + path.slice(at + whole.length);
  });
}

const SPLITS: ReadonlyMap<string, string> = new Map([
  ["train", "train"],
  ["training", "train"],
  ["test", "test"],
  ["testing", "test"],
  ["eval", "test"],
  ["evaluation", "test"],
  ["validation", "validation"],
  ["valid", "validation"],
  ["val", "validation"],
  ["dev", "validation"],
]);

/** The split in a file's name, by the rules of the Hub's own libraries: "train" if it names none. */
function splitOf(path: string): string {
  const parts = path.split("/").reverse();
  const shard = SHARD.exec(parts[0]!)?.[1];
  if (shard !== undefined) return SPLITS.get(shard) ?? shard;
  for (const part of parts)
    for (const word of part.toLowerCase().split(/[^a-z]+/)) if (SPLITS.has(word)) return SPLITS.get(word)!;
  return "train";
}

/**
 * Configuration of a file: its first folder that is neither a split nor "data"; "default" for files beside
 * the card.
 */
function configOf(path: string): string {
  const folders = path.split("/").slice(0, -1);
  return folders.find((folder) => folder !== "data" && !SPLITS.has(folder.toLowerCase())) ?? "default";
}

/** The files of a configuration and a split among all paths of a repository; only parquet files if there are any. */
export function chosenFiles(paths: readonly string[], { repo, config, split }: DatasetName): string[] {
  const data = paths.filter(
    (path) => isDataFile(path) && !/(?:^|\/)\.|(?:^|\/)(?:dataset_infos?|config)\.json$/.test(path),
  );
  const columnar = data.filter((path) => path.endsWith(".parquet"));
  const files = (columnar.length > 0 ? columnar : data).toSorted();
  const pick = (
    what: string,
    of: (path: string) => string,
    from: readonly string[],
    given?: string,
    usual: readonly string[] = [],
  ) => {
    const names = [...new Set(from.map(of))];
    const one = given ?? (names.length === 1 ? names[0] : usual.find((name) => names.includes(name)));
    const found = from.filter((path) => of(path) === one);
    if (found.length > 0) return found;
    throw noSuch(repo, what, given, names);
  };
  if (files.length === 0) throw noSuch(repo, "file of rows", undefined, []);
  const configured = pick("configuration", configOf, files, config, ["default", "main"]);
  return pick("split", splitOf, configured, split && (SPLITS.get(split) ?? split), ["train"]);
}

function noSuch(repo: string, what: string, given: string | undefined, names: readonly string[]): HoneError {
  const has = names.length === 0 ? "" : `; it has ${names.join(", ")}`;
  const message =
    given === undefined && names.length > 0
      ? `data set ${repo} has several ${what}s: ${names.join(", ")}`
      : `data set ${repo} has no ${what}${given === undefined ? "" : ` ${given}`}${has}`;
  return new HoneError("HONE_ERR_DATA", message, {
    hint: 'Name configuration and split: "hf:org/name/config:split". Files of rows end in .parquet, .jsonl, .json or .csv.',
  });
}
