import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { HoneError } from "../errors.ts";
import { expectWeights } from "./expect-weights.ts";
import { CachedModel, hubCacheFolder, hubIsOffline, hubToken, missingFile, shardsOf } from "./hub-cache.ts";
import { HubClient, type HubClientOptions, type HubCommit, type HubFile } from "./hub-client.ts";
import { downloadFile, downloadHead } from "./hub-download.ts";
import { type FileHead, withLocalHead } from "./safetensors-header.ts";

export interface DownloadProgress {
  /** The file in progress, by its name in the repository. */
  readonly file: string;
  /** Bytes of all files that are needed and were not in the cache. */
  readonly bytes: number;
  readonly totalBytes: number;
}

export interface ResolveOptions {
  /** Sends no request, so that the cache must be complete. Default: whether HF_HUB_OFFLINE is set. */
  readonly offline?: boolean;
  /** False for uses that read no weights. Default true. */
  readonly withWeights?: boolean;
  readonly onProgress?: (progress: DownloadProgress) => void;
  readonly signal?: AbortSignal;
  /** Default: process.env. Reads HF_ENDPOINT, HF_TOKEN, HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE as Python's client does. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** See HubClientOptions. */
  readonly retryDelaysMs?: readonly number[];
}

export interface HubName {
  /** "org/name". */
  readonly repo: string;
  /** Branch, tag or commit; "main" unless given after an @. */
  readonly revision: string;
}

/** Names of an owner and of a repository: letters, digits, single - and . between them. */
const PART = String.raw`\w(?:[\w]|[.-](?![.-]))*`;
const NAME = new RegExp(`^(?<repo>${PART}/${PART})(?:@(?<revision>[\\w][\\w.+-]*(?:/[\\w][\\w.+-]*)*))?$`);
const INDEX = "model.safetensors.index.json";
/** Small files that belong to a model folder; weights are chosen by the index. */
const SMALL =
  /^(?:[\w.-]+\.json|[\w.-]+\.jinja|additional_chat_templates\/[\w.-]+\.jinja|merges\.txt|tokenizer\.model)$/;
const OTHER_INDEX = /\.index\.json$/;

/** Parses "org/name" or "org/name@revision"; undefined for anything else. */
export function parseHubName(text: string): HubName | undefined {
  const { repo, revision = "main" } = NAME.exec(text)?.groups ?? {};
  if (repo === undefined || repo.length > 96 || revision.includes("..") || /[.-]$/.test(repo))
    return undefined;
  return { repo, revision };
}

/**
 * The folder of a model: `nameOrPath` itself if it exists, otherwise the snapshot of a Hub model in the cache that
 * Python's huggingface_hub uses too; missing files are downloaded. If the Hub cannot be reached, a complete snapshot
 * from earlier is used.
 * Throws HONE_ERR_IO (neither folder nor name, disk), HONE_ERR_HUB (network, 401, 404, 429, ...; offline and not in
 * the cache), HONE_ERR_FORMAT (checksum, damaged index), HONE_ERR_UNSUPPORTED (no @huggingface/hub, no safetensors),
 * HONE_ERR_ABORTED; each with the next step.
 */
export async function resolveModelFolder(nameOrPath: string, options: ResolveOptions = {}): Promise<string> {
  return (await resolveModel(nameOrPath, options, options.withWeights ?? true)).folder;
}

/** A folder with the small files of a model, and access to the beginnings of its weight files, wherever they are. */
export interface ModelHeads {
  readonly folder: string;
  /** @param name as the repository calls the file. */
  withHead<T>(name: string, use: (head: FileHead) => Promise<T>): Promise<T>;
}

/**
 * Resolves a model without downloading its weights. Throws what resolveModelFolder throws; `withHead` throws
 * HONE_ERR_IO and the Hub's errors.
 */
export async function resolveModelHeads(
  nameOrPath: string,
  options: Omit<ResolveOptions, "withWeights"> = {},
): Promise<ModelHeads> {
  const { folder, remote } = await resolveModel(nameOrPath, { ...options, withWeights: false }, true);
  return {
    folder,
    withHead(name, use) {
      const path = join(folder, name);
      if (remote === undefined) expectWeights(folder);
      if (remote === undefined || existsSync(path)) return withLocalHead(path, use);
      const { client, repo, commit } = remote;
      const url = client.fileUrl(repo, commit.id, name);
      const { size } = fileOf(commit, repo, name);
      return use({ where: url, size, read: (bytes) => downloadHead(client, url, bytes) });
    },
  };
}

interface ResolvedModel {
  readonly folder: string;
  /** Repository that the folder's files were just downloaded from; undefined if no request was made. */
  readonly remote?: { readonly client: HubClient; readonly repo: string; readonly commit: HubCommit };
}

/** @param cachedWeights whether weights must be in the cache if no request can be made. */
async function resolveModel(
  nameOrPath: string,
  options: ResolveOptions,
  cachedWeights: boolean,
): Promise<ResolvedModel> {
  if (existsSync(nameOrPath)) return { folder: nameOrPath };
  const name = parseHubName(nameOrPath);
  if (name === undefined) {
    throw new HoneError(
      "HONE_ERR_IO",
      `there is no folder ${resolve(nameOrPath)}, and ${nameOrPath} is not the name of a model on the Hub`,
      {
        hint: "Give a folder with config.json and safetensors weights, or org/name, or org/name@revision.",
      },
    );
  }
  const env = options.env ?? process.env;
  const cached = new CachedModel(hubCacheFolder(env), name.repo);
  if (options.offline ?? hubIsOffline(env)) {
    const found = await fromCache(cached, name, cachedWeights);
    if (typeof found === "string") return { folder: found };
    throw notCached(name, found);
  }
  const found = await fromCache(cached, name, cachedWeights).catch(() => undefined);
  const access = hubAccess(options);
  try {
    // with a snapshot to fall back on, one attempt is enough
    const lookup = new HubClient({ ...access, ...(typeof found === "string" && { retryDelaysMs: [] }) });
    const commit = await lookup.describe(name.repo, name.revision);
    const client = new HubClient(access);
    const folder = await fromHub(client, cached, name, commit, options);
    return { folder, remote: { client, repo: name.repo, commit } };
  } catch (cause) {
    if (typeof found === "string" && isUnreachable(cause)) return { folder: found };
    throw HoneError.is(cause) && cause.code === "HONE_ERR_HUB" ? noFolderEither(nameOrPath, cause) : cause;
  }
}

/** Access to the Hub, by options and environment. */
export function hubAccess({
  env = process.env,
  retryDelaysMs,
  signal,
}: Pick<ResolveOptions, "env" | "retryDelaysMs" | "signal">): HubClientOptions {
  return {
    endpoint: env["HF_ENDPOINT"] || "https://huggingface.co",
    signal,
    token: hubToken(env),
    ...(retryDelaysMs && { retryDelaysMs }),
  };
}

async function fromCache(
  cached: CachedModel,
  { revision }: HubName,
  withWeights: boolean,
): Promise<string | { readonly missing: string | undefined }> {
  const commit = await cached.commitOf(revision);
  if (commit === undefined) return { missing: undefined };
  const snapshot = cached.snapshot(commit);
  const missing = missingFile(snapshot, withWeights);
  return missing === undefined ? snapshot : { missing };
}

async function fromHub(
  client: HubClient,
  cached: CachedModel,
  { repo, revision }: HubName,
  commit: HubCommit,
  { withWeights = true, onProgress }: ResolveOptions,
): Promise<string> {
  const place = { client, cached, repo, commit: commit.id };
  const small = commit.files.filter(
    ({ path }) => SMALL.test(path) && (path === INDEX || !OTHER_INDEX.test(path)),
  );
  // The index lists the weight files, so it must be read before the total size is known.
  const index = small.find(({ path }) => path === INDEX);
  if (index && withWeights) await bringFiles(place, [index], onProgress);
  const weights = withWeights ? await weightFiles(commit, repo, index && cached.blob(index)) : [];
  await bringFiles(place, [...small, ...weights], onProgress);
  await cached.remember(revision, commit.id);
  return cached.snapshot(commit.id);
}

/** A repository at a commit, and its cache. */
export interface HubPlace {
  readonly client: HubClient;
  readonly cached: CachedModel;
  readonly repo: string;
  readonly commit: string;
}

/** Downloads the files that the cache lacks, and links all of them into the snapshot. Throws HONE_ERR_IO and the Hub's errors. */
export async function bringFiles(
  { client, cached, repo, commit }: HubPlace,
  wanted: readonly HubFile[],
  onProgress: (progress: DownloadProgress) => void = () => {},
): Promise<void> {
  const missing = new Map<string, number>(); // by blob, since files may have equal contents
  for (const file of wanted) if (!(await cached.has(file))) missing.set(cached.blob(file), file.size);
  const totalBytes = [...missing.values()].reduce((sum, size) => sum + size, 0);
  await cached.prepare(totalBytes);
  let done = 0;
  for (const file of wanted) {
    const { path, size } = file;
    if (!(await cached.has(file))) {
      const url = client.fileUrl(repo, commit, path);
      const onBytes = (bytes: number) => onProgress({ file: path, bytes: done + bytes, totalBytes });
      await downloadFile(client, { url, file, path: cached.blob(file), onBytes });
      done += size;
    }
    await cached.link(commit, file);
  }
}

async function weightFiles(commit: HubCommit, repo: string, index: string | undefined): Promise<HubFile[]> {
  const names = index === undefined ? ["model.safetensors"] : shardsOf(await readFile(index, "utf8"), INDEX);
  return names.map((name) => fileOf(commit, repo, name));
}

function fileOf({ files, id }: HubCommit, repo: string, name: string): HubFile {
  const file = files.find(({ path }) => path === name);
  if (file) return file;
  throw new HoneError("HONE_ERR_UNSUPPORTED", `${repo} at ${id.slice(0, 8)} has no ${name}`, {
    hint: "Only safetensors weights are read; many models have them on another revision, such as refs/pr/1.",
  });
}

/** Extends the message for a misspelt folder: a path with one slash looks like a name of the Hub. */
function noFolderEither(nameOrPath: string, error: HoneError): HoneError {
  const { code, message, details, cause, hint = "" } = error;
  const tried = `there is no folder ${resolve(nameOrPath)}; tried as a model of the Hub: ${message}`;
  return new HoneError(code, tried, { details, cause, hint });
}

/** True if the Hub could not be reached at all. */
export function isUnreachable(cause: unknown): boolean {
  return HoneError.is(cause) && cause.code === "HONE_ERR_HUB" && cause.details["reached"] === false;
}

function notCached(
  { repo, revision }: HubName,
  { missing }: { readonly missing: string | undefined },
): HoneError {
  const what = missing === undefined ? "is not in the cache" : `lacks ${missing} in the cache`;
  return new HoneError(
    "HONE_ERR_HUB",
    `${repo}@${revision} ${what}, and offline mode forbids asking the Hub`,
    {
      hint: "A folder of this name does not exist either. Unset HF_HUB_OFFLINE once to download the model, or give a folder.",
      details: { reached: false },
    },
  );
}
