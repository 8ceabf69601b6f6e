import { existsSync, readFileSync } from "node:fs";
import { copyFile, mkdir, readFile, rename, rm, stat, statfs, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative } from "node:path";
import { HoneError } from "../errors.ts";
import type { HubFile } from "./hub-client.ts";
import { diskError } from "./partial-file.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const INDEX = "model.safetensors.index.json";

/** The folder in which the Hub's clients keep their downloads. Source: huggingface_hub, "Environment variables". */
export function hubCacheFolder(env: Environment): string {
  const set = env["HF_HUB_CACHE"] || env["HUGGINGFACE_HUB_CACHE"];
  return set ? expanded(set) : join(hubHome(env), "hub");
}

/** HF_TOKEN, or the token that `hf auth login` stored. */
export function hubToken(env: Environment): string | undefined {
  const token = env["HF_TOKEN"] || env["HUGGING_FACE_HUB_TOKEN"];
  if (token) return token.trim();
  const file = env["HF_TOKEN_PATH"] ? expanded(env["HF_TOKEN_PATH"]) : join(hubHome(env), "token");
  return (existsSync(file) && readFileSync(file, "utf8").trim()) || undefined;
}

export function hubIsOffline(env: Environment): boolean {
  return /^(?:1|on|yes|true)$/i.test(env["HF_HUB_OFFLINE"] || env["TRANSFORMERS_OFFLINE"] || "");
}

function hubHome(env: Environment): string {
  if (env["HF_HOME"]) return expanded(env["HF_HOME"]);
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "huggingface");
}

function expanded(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}

/**
 * One repository in the cache: blobs/<checksum>, snapshots/<commit>/<path> pointing at them, refs/<revision> with a
 * commit. The layout is that of Python's huggingface_hub, so each client finds the other's downloads.
 */
export class CachedModel {
  readonly folder: string;

  /** @param repo "org/name" for a model, "datasets/org/name" for a data set. */
  constructor(cache: string, repo: string) {
    const kind = repo.startsWith("datasets/") ? "" : "models--";
    this.folder = join(cache, `${kind}${repo.replaceAll("/", "--")}`);
  }

  blob({ digest }: HubFile): string {
    return join(this.folder, "blobs", digest.hex);
  }

  snapshot(commit: string): string {
    return join(this.folder, "snapshots", commit);
  }

  /** The commit a revision stood for when it was last looked up. */
  async commitOf(revision: string): Promise<string | undefined> {
    if (/^[0-9a-f]{40}$/.test(revision)) return revision;
    const text = await readFile(join(this.folder, "refs", revision), "utf8").catch(() => "");
    return text.trim() || undefined;
  }

  /** Stores the commit of a revision. Throws HONE_ERR_IO. */
  async remember(revision: string, commit: string): Promise<void> {
    const path = join(this.folder, "refs", revision);
    if (revision === commit || (await this.commitOf(revision)) === commit) return;
    await onDisk(path, async () => {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(`${path}.${process.pid}`, commit);
      await rename(`${path}.${process.pid}`, path);
    });
  }

  /** True if the contents are cached, whichever client downloaded them. */
  async has(file: HubFile): Promise<boolean> {
    return stat(this.blob(file)).then(
      ({ size }) => size === file.size,
      () => false,
    );
  }

  /** Creates the snapshot's entry of a file whose blob is cached. Throws HONE_ERR_IO. */
  async link(commit: string, file: HubFile): Promise<void> {
    const path = join(this.snapshot(commit), ...file.path.split("/"));
    const blob = this.blob(file);
    if ((await stat(path).catch(() => undefined))?.size === file.size) return;
    await onDisk(path, async () => {
      await mkdir(dirname(path), { recursive: true });
      await rm(path, { force: true });
      await symlink(relative(dirname(path), blob), path).catch(async (cause: NodeJS.ErrnoException) => {
        if (cause.code === "EEXIST") return; // another process has created the entry
        await copyFile(blob, path); // a file system without symbolic links
      });
    });
  }

  /** Makes the folder for blobs. Throws HONE_ERR_IO if the disk has less than `bytes` left. */
  async prepare(bytes: number): Promise<void> {
    const blobs = join(this.folder, "blobs");
    await onDisk(blobs, () => mkdir(blobs, { recursive: true }));
    const { bavail, bsize } = await statfs(blobs);
    if (bytes <= bavail * bsize) return;
    const gib = (n: number) => `${(n / 2 ** 30).toFixed(1)} GiB`;
    throw new HoneError("HONE_ERR_IO", `${blobs}: ${gib(bytes)} to download, ${gib(bavail * bsize)} free`, {
      hint: "Free space, or set HF_HOME to another disk.",
    });
  }
}

/** The first missing file of a snapshot that every use of the model needs; undefined if all are there. */
export function missingFile(snapshot: string, withWeights: boolean): string | undefined {
  if (!existsSync(join(snapshot, "config.json"))) return "config.json";
  if (!withWeights) return undefined;
  const wanted = existsSync(join(snapshot, INDEX))
    ? shardsOf(readFileSync(join(snapshot, INDEX), "utf8"), INDEX)
    : ["model.safetensors"];
  return wanted.find((name) => !existsSync(join(snapshot, name)));
}

/** Names of the shards in an index. Throws HONE_ERR_FORMAT naming one that is no plain file name. */
export function shardsOf(indexText: string, where: string): string[] {
  let map: unknown;
  try {
    map = (JSON.parse(indexText) as { weight_map?: unknown }).weight_map;
  } catch (cause) {
    throw new HoneError("HONE_ERR_FORMAT", `${where}: ${(cause as Error).message}`, { cause });
  }
  const names = typeof map === "object" && map !== null ? [...new Set(Object.values(map))] : [];
  if (names.length === 0) throw new HoneError("HONE_ERR_FORMAT", `${where}: no "weight_map"`);
  const bad = names.find((name) => typeof name !== "string" || !/^\w[\w.-]*\.safetensors$/.test(name));
  if (bad === undefined) return names as string[];
  throw new HoneError("HONE_ERR_FORMAT", `${where}: ${JSON.stringify(bad)} is not a plain .safetensors name`);
}

async function onDisk(path: string, work: () => Promise<unknown>): Promise<void> {
  await work().catch((cause: Error) => {
    throw diskError(path, cause);
  });
}
