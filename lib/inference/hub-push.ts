import { createReadStream } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { HoneError } from "../errors.ts";
import { hubAccess, parseHubName, type ResolveOptions } from "./hub.ts";
import { hubIsOffline } from "./hub-cache.ts";
import { HubClient, type HubCommit, type HubFile, hubPackage } from "./hub-client.ts";
import { newHash } from "./partial-file.ts";

export interface PushOptions extends Pick<ResolveOptions, "env" | "signal" | "retryDelaysMs"> {
  /** Branch to push to, which is created if it does not exist. Default "main". */
  readonly revision?: string;
  /** Creates a private repository; refuses an existing public one. */
  readonly isPrivate?: boolean;
  /** Compares without sending. */
  readonly dryRun?: boolean;
  /** First line of the commit. */
  readonly title?: string;
  /** Called with the number of bytes sent. */
  readonly onProgress?: (sent: number, total: number) => void;
}

/** A file of the folder, and whether the repository has a file of that name with other or equal content. */
export interface PushedFile {
  readonly path: string;
  readonly size: number;
  readonly state: "new" | "changed" | "there";
}

export interface PushReport {
  readonly repo: string;
  readonly revision: string;
  readonly endpoint: string;
  /** True if the repository was created, or would be. */
  readonly isNew: boolean;
  readonly files: readonly PushedFile[];
  /** URL of the commit; undefined if none was made. */
  readonly commit?: string | undefined;
}

/** Repository and branch as the Hub has them. */
interface Remote {
  /** Undefined if the branch or the repository does not exist. */
  readonly commit?: HubCommit;
  readonly isNew: boolean;
}

/**
 * Sends a folder of a model or of adapters to a Hub repository in one commit; skips files that the repository already
 * has, by checksum, and large files uploaded by an interrupted attempt.
 * Throws HONE_ERR_USAGE (invalid name, public although private was requested), HONE_ERR_IO (not a model folder, or it
 * contains a link), HONE_ERR_HUB (no token, 401, 403, 409, network), HONE_ERR_UNSUPPORTED (no @huggingface/hub),
 * HONE_ERR_ABORTED.
 */
export async function pushFolder(
  folder: string,
  repo: string,
  options: PushOptions = {},
): Promise<PushReport> {
  const { revision = "main", isPrivate = false, dryRun = false, env = process.env } = options;
  expectName(repo);
  const local = await filesOf(folder);
  if (hubIsOffline(env)) throw offline();
  const access = hubAccess(options);
  const client = new HubClient(access);
  try {
    const remote = await remoteOf(client, repo, revision, access.token !== undefined);
    if (isPrivate && remote.commit?.isPrivate === false) throw isPublic(repo, client.endpoint);
    const files = await compared(folder, local, remote.commit?.files ?? []);
    const { endpoint } = client;
    const report: PushReport = { repo, revision, endpoint, isNew: remote.isNew, files };
    const isDone = remote.commit !== undefined && files.every(({ state }) => state === "there");
    if (dryRun || isDone) return report;
    if (access.token === undefined) throw noToken(endpoint);
    return { ...report, commit: await sent(client, folder, report, remote, options) };
  } catch (error) {
    throw pushFault(error, { repo, revision, endpoint: client.endpoint });
  }
}

async function sent(
  client: HubClient,
  folder: string,
  { repo, revision, files }: PushReport,
  { isNew, commit }: Remote,
  { isPrivate, title = "Upload by hone push", signal, onProgress = () => {} }: PushOptions,
): Promise<string> {
  const { createRepo, createBranch, commitIter } = await hubPackage();
  const wanted = files.filter(({ state }) => state !== "there");
  const total = wanted.reduce((sum, { size }) => sum + size, 0);
  const target = {
    repo,
    hubUrl: client.endpoint,
    fetch: counting(client, (bytes) => onProgress(bytes, total)),
  };
  if (isNew) await createRepo({ ...target, ...(isPrivate && { visibility: "private" }) });
  if (commit === undefined && revision !== "main") await createBranch({ ...target, branch: revision });
  const events = commitIter({
    ...target,
    branch: revision,
    title,
    operations: wanted.map(({ path }) => ({
      operation: "addOrUpdate",
      path,
      content: pathToFileURL(resolve(folder, path)),
    })),
    ...(commit && { parentCommit: commit.id }),
    useXet: false,
    ...(signal && { abortSignal: signal }),
  });
  for (;;) {
    const event = await events.next();
    if (!event.done) continue;
    onProgress(total, total);
    return event.value.commit.url;
  }
}

/** Fetch that adds up the bytes of files and of their parts once the Hub has them. */
function counting(client: HubClient, onBytes: (bytes: number) => void): typeof fetch {
  let bytes = 0;
  return async (input, init) => {
    const response = await client.fetch(input, init);
    if (init?.body instanceof Blob) {
      bytes += init.body.size;
      onBytes(bytes);
    }
    return response;
  };
}

/** The Hub reveals the existence of a private repository only to those who may write to it. */
async function remoteOf(
  client: HubClient,
  repo: string,
  revision: string,
  hasToken: boolean,
): Promise<Remote> {
  try {
    return { commit: await client.describe(repo, revision), isNew: false };
  } catch (error) {
    const { status, code } = HoneError.is(error) ? error.details : {};
    if (code === "RevisionNotFound") return { isNew: false };
    if (status === 404 || (status === 401 && !hasToken)) return { isNew: true };
    throw error;
  }
}

async function compared(
  folder: string,
  local: readonly Pick<PushedFile, "path" | "size">[],
  remote: readonly HubFile[],
): Promise<PushedFile[]> {
  const files: PushedFile[] = [];
  for (const file of local) {
    const there = remote.find(({ path }) => path === file.path);
    const isSame =
      there?.size === file.size && (await hashOf(join(folder, file.path), there)) === there.digest.hex;
    files.push({ ...file, state: there === undefined ? "new" : isSame ? "there" : "changed" });
  }
  return files;
}

async function hashOf(path: string, { digest, size }: HubFile): Promise<string> {
  const hash = newHash(digest, size);
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

/** Files of a model or adapter folder, without hidden ones. */
async function filesOf(folder: string): Promise<Pick<PushedFile, "path" | "size">[]> {
  const entries = await readdir(folder, { recursive: true }).catch((cause: Error) => {
    throw new HoneError("HONE_ERR_IO", `cannot read the folder ${resolve(folder)}: ${cause.message}`, {
      cause,
    });
  });
  const shown = entries.filter((path) => !path.split("/").some((name) => name.startsWith("."))).sort();
  const isModel = shown.includes("config.json") || shown.includes("adapter_config.json");
  if (!isModel || !shown.some((path) => path.endsWith(".safetensors")))
    throw new HoneError(
      "HONE_ERR_IO",
      `${resolve(folder)} is neither a model folder nor a folder of adapters`,
      {
        hint: "Give what `hone export --run <run> --out <folder>` wrote: config.json or adapter_config.json, and safetensors.",
      },
    );
  const files: Pick<PushedFile, "path" | "size">[] = [];
  for (const path of shown) {
    const stats = await lstat(join(folder, path));
    if (stats.isFile()) files.push({ path, size: stats.size });
    else if (!stats.isDirectory())
      throw new HoneError("HONE_ERR_IO", `${join(resolve(folder), path)} is a link or a device, not a file`, {
        hint: "What it points to would be published: put the file itself there, or take it out of the folder.",
      });
  }
  return files;
}

function expectName(repo: string): void {
  if (parseHubName(repo)?.revision === "main" && !repo.includes("@")) return;
  throw new HoneError("HONE_ERR_USAGE", `${repo} is not a repository name, org/name`, {
    hint: "Letters, digits, single - and . ; a branch is given by --revision.",
  });
}

const offline = () =>
  new HoneError("HONE_ERR_HUB", "HF_HUB_OFFLINE is set, and a push needs the Hub", {
    hint: "Unset HF_HUB_OFFLINE for this command.",
    details: { reached: false },
  });

const noToken = (endpoint: string) =>
  new HoneError("HONE_ERR_HUB", "a push needs HF_TOKEN, which is not set", {
    hint: `Make a token with write permission at ${endpoint}/settings/tokens, and set HF_TOKEN to it.`,
  });

const isPublic = (repo: string, endpoint: string) =>
  new HoneError("HONE_ERR_USAGE", `${repo} exists and is public; --private would not change that`, {
    hint: `Make it private at ${endpoint}/${repo}/settings, choose another name, or leave --private out.`,
  });

type Place = Pick<PushReport, "repo" | "revision" | "endpoint">;

/** Adds a remedy to an error of the Hub; returns other errors unchanged. */
function pushFault(error: unknown, place: Place): unknown {
  if (HoneError.is(error)) {
    const { code, message, details, cause } = error;
    const { status } = details;
    if (code !== "HONE_ERR_HUB" || typeof status !== "number") return error;
    const hint = nextStep(status, String(details["url"] ?? ""), place);
    return new HoneError(code, message, { details, cause, ...(hint !== undefined && { hint }) });
  }
  // errors of @huggingface/hub itself: an object that the Hub refused, or an unexpected response
  const { message } = error as Error;
  return new HoneError("HONE_ERR_HUB", `${place.repo}: ${message}`, {
    cause: error,
    hint: "Run the same command again: files that the Hub has are not sent again.",
  });
}

function nextStep(status: number, url: string, { repo, revision, endpoint }: Place): string | undefined {
  if (!url.startsWith(endpoint))
    return "The storage did not take a file. Run the same command again: files that it has are not sent again.";
  if (status === 401)
    return `HF_TOKEN is not valid at this Hub: make a token with write permission at ${endpoint}/settings/tokens.`;
  if (status === 403)
    return `HF_TOKEN may not write to ${repo}: it needs write permission, and you a role that may write in ${repo.split("/")[0]}.`;
  if (status === 404)
    return `There is no ${repo}, or HF_TOKEN may not see it; check the name and the branch ${revision}.`;
  if (status === 409 || status === 412)
    return `${repo}@${revision} has changed meanwhile, or is being created: run the same command again.`;
  if (status === 429) return "The Hub limits requests: wait a few minutes, and run the same command again.";
  if (status >= 500)
    return "The Hub reported an internal error; run the same command again: files already uploaded are not sent again.";
  return undefined;
}
