import { setTimeout as sleep } from "node:timers/promises";
import { HoneError } from "../errors.ts";

/** The checksum of a file's contents: sha256 of the bytes, or git's name of a blob (sha1 with git's header). */
export interface HubDigest {
  readonly algorithm: "sha256" | "git-sha1";
  readonly hex: string;
}

export interface HubFile {
  /** Inside the repository, with "/". */
  readonly path: string;
  readonly size: number;
  readonly digest: HubDigest;
}

/** One commit of a model repository. */
export interface HubCommit {
  /** 40 hexadecimal digits. */
  readonly id: string;
  readonly files: readonly HubFile[];
  /** True if only its owners can see the repository; undefined if the Hub does not say. */
  readonly isPrivate?: boolean | undefined;
}

export interface HubClientOptions {
  /** Default: https://huggingface.co. */
  readonly endpoint: string;
  readonly token?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Pauses before each further attempt of a request that failed for a temporary reason; one attempt per pause. */
  readonly retryDelaysMs?: readonly number[];
}

interface InfoRequest {
  readonly name: string;
  readonly revision: string;
  readonly hubUrl: string;
  readonly additionalFields: readonly "sha"[];
  readonly fetch: typeof fetch;
}

/** The calls of @huggingface/hub that are used. */
export interface HubPackage {
  modelInfo(request: InfoRequest): Promise<RepositoryInfo>;
  datasetInfo(request: InfoRequest): Promise<RepositoryInfo>;
  listFiles(request: {
    readonly repo: string;
    readonly revision: string;
    readonly recursive: boolean;
    readonly hubUrl: string;
    readonly fetch: typeof fetch;
  }): AsyncIterable<ListedEntry>;
  createRepo(request: Target & { readonly visibility?: "private" }): Promise<unknown>;
  createBranch(request: Target & { readonly branch: string }): Promise<void>;
  commitIter(
    request: Target & {
      readonly branch: string;
      readonly title: string;
      readonly operations: readonly {
        readonly operation: "addOrUpdate";
        readonly path: string;
        readonly content: URL;
      }[];
      readonly parentCommit?: string;
      readonly useXet: boolean;
      readonly abortSignal?: AbortSignal;
    },
  ): AsyncGenerator<unknown, { readonly commit: { readonly oid: string; readonly url: string } }>;
}

/** A repository to write to. */
interface Target {
  readonly repo: string;
  readonly hubUrl: string;
  readonly fetch: typeof fetch;
}

interface RepositoryInfo {
  readonly sha: string;
  readonly private?: boolean;
}

interface ListedEntry {
  readonly type: string;
  readonly path: string;
  readonly size: number;
  readonly oid?: string;
  readonly lfs?: { readonly oid: string; readonly size: number };
}

const RETRY_DELAYS_MS = [500, 1000, 2000, 4000, 8000];
const LONGEST_RETRY_AFTER_MS = 60_000;
const PASSING = new Set([408, 429, 500, 502, 503, 504]);
const DATASETS = "datasets/";
/** A variable, so that the compiler does not require the types of an optional package. */
const PACKAGE: string = "@huggingface/hub";

/** Requests to one endpoint: with the user's token (to that origin only), repeated after temporary failures. */
export class HubClient {
  readonly endpoint: string;
  readonly signal: AbortSignal | undefined;
  readonly retryDelaysMs: readonly number[];
  readonly #token: string | undefined;

  constructor({ endpoint, token, signal, retryDelaysMs = RETRY_DELAYS_MS }: HubClientOptions) {
    this.endpoint = endpoint.replace(/\/+$/, "");
    this.#token = token;
    this.signal = signal;
    this.retryDelaysMs = retryDelaysMs;
  }

  /**
   * Resolves a revision (branch, tag, commit) to its commit, with sizes and checksums of all its files. A model's
   * repository is called "org/name", a data set's "datasets/org/name". Throws HONE_ERR_HUB, HONE_ERR_ABORTED;
   * HONE_ERR_UNSUPPORTED if @huggingface/hub is not installed.
   */
  async describe(repo: string, revision: string): Promise<HubCommit> {
    const { modelInfo, datasetInfo, listFiles } = await hubPackage();
    const isData = repo.startsWith(DATASETS);
    const name = isData ? repo.slice(DATASETS.length) : repo;
    const request = { hubUrl: this.endpoint, fetch: this.fetch };
    const files: HubFile[] = [];
    try {
      const info = isData ? datasetInfo : modelInfo;
      const { sha: id, private: isPrivate } = await info({
        ...request,
        name,
        revision,
        additionalFields: ["sha"],
      });
      if (!/^[0-9a-f]{40}$/.test(id)) throw this.#strange(`${repo} at commit ${JSON.stringify(id)}`);
      for await (const entry of listFiles({ ...request, repo, revision: id, recursive: true }))
        if (entry.type === "file") files.push(this.#listed(entry));
      return { id, files, isPrivate };
    } catch (cause) {
      if (HoneError.is(cause)) throw cause;
      throw this.#strange(`${repo}: ${(cause as Error).message}`, cause);
    }
  }

  fileUrl(repo: string, commit: string, path: string): string {
    return `${this.endpoint}/${repo}/resolve/${commit}/${path.split("/").map(encodeURIComponent).join("/")}`;
  }

  /**
   * A response of status 200 to 299, or of one in `alsoFine`. Follows redirects, without the token if they leave the
   * endpoint's origin. Throws HONE_ERR_HUB with the last failure, HONE_ERR_ABORTED.
   */
  async get(url: string, init: RequestInit = {}, alsoFine: readonly number[] = []): Promise<Response> {
    for (let attempt = 0; ; attempt += 1) {
      const outcome = await this.#attempt(url, init);
      if (outcome instanceof Response && (outcome.ok || alsoFine.includes(outcome.status))) return outcome;
      const delay = this.retryDelaysMs[attempt];
      if (outcome instanceof Response && (!PASSING.has(outcome.status) || delay === undefined))
        throw await refusal(outcome, this.endpoint, this.#token !== undefined);
      if (delay === undefined) throw unreachable(url, outcome as Error);
      if (outcome instanceof Response) await outcome.body?.cancel();
      await this.pause(Math.max(delay, outcome instanceof Response ? retryAfterMs(outcome) : 0));
    }
  }

  /** Throws HONE_ERR_ABORTED at once when the user aborts. */
  async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { ...(this.signal && { signal: this.signal }) }).catch(() =>
      this.checkAborted(),
    );
  }

  checkAborted(): void {
    if (this.signal?.aborted) throw new HoneError("HONE_ERR_ABORTED", "the transfer was cancelled");
  }

  async #attempt(url: string, init: RequestInit): Promise<Response | Error> {
    this.checkAborted();
    const headers = new Headers(init.headers);
    if (this.#token !== undefined && new URL(url).origin === new URL(this.endpoint).origin)
      headers.set("authorization", `Bearer ${this.#token}`);
    try {
      return await fetch(url, { ...init, headers, signal: init.signal ?? this.signal ?? null });
    } catch (cause) {
      this.checkAborted();
      return cause as Error;
    }
  }

  /** `get` in the shape of fetch. */
  readonly fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
    this.get(input instanceof Request ? input.url : String(input), init);

  #listed({ path, size, oid, lfs }: ListedEntry): HubFile {
    const hex = lfs?.oid ?? oid ?? "";
    const digest: HubDigest = { algorithm: lfs ? "sha256" : "git-sha1", hex };
    // the digest is checked, since it becomes a file name
    if (!(lfs ? /^[0-9a-f]{64}$/ : /^[0-9a-f]{40}$/).test(hex))
      throw this.#strange(`checksum ${JSON.stringify(hex)} of ${path}`);
    return { path, size: lfs?.size ?? size, digest };
  }

  #strange(what: string, cause?: unknown): HoneError {
    return new HoneError("HONE_ERR_HUB", `${this.endpoint} does not answer as a Hub does: ${what}`, {
      cause,
      hint: "HF_ENDPOINT must be the address of huggingface.co or of a mirror; a login page in between looks like this too.",
    });
  }
}

/** Throws HONE_ERR_UNSUPPORTED if @huggingface/hub is not installed. */
export async function hubPackage(): Promise<HubPackage> {
  try {
    return (await import(PACKAGE)) as HubPackage;
  } catch (cause) {
    throw new HoneError(
      "HONE_ERR_UNSUPPORTED",
      "models and data sets by name need the optional package @huggingface/hub",
      {
        cause,
        hint: "npm install @huggingface/hub, or download it otherwise and give its folder.",
      },
    );
  }
}

function unreachable(url: string, cause: Error): HoneError {
  const why = cause.cause instanceof Error ? cause.cause.message || cause.cause.name : cause.message;
  return new HoneError("HONE_ERR_HUB", `${withoutQuery(url)}: ${why}`, {
    cause,
    hint: "Check the network and HF_ENDPOINT; what is in the cache is used with HF_HUB_OFFLINE=1, which sends no request.",
    details: { url, reached: false },
  });
}

async function refusal(response: Response, endpoint: string, hasToken: boolean): Promise<HoneError> {
  const { status, headers, url } = response;
  const said = headers.get("x-error-message") ?? (await response.text().catch(() => "")).slice(0, 200);
  const message = `${withoutQuery(url)}: status ${status}${said === "" ? "" : `, ${JSON.stringify(said)}`}`;
  const hint = nextStep(status, headers.get("x-error-code") ?? "", endpoint, hasToken);
  const details = { url, status, code: headers.get("x-error-code") ?? undefined, reached: true };
  return new HoneError("HONE_ERR_HUB", message, { hint, details });
}

const withoutQuery = (url: string) => url.replace(/\?.*$/, "");

function nextStep(status: number, code: string, endpoint: string, hasToken: boolean): string {
  if (code === "GatedRepo" || status === 403)
    return `Accept the model's conditions on its page at ${endpoint}, and set HF_TOKEN to a token of that account.`;
  if (code === "RevisionNotFound") return "There is no such branch, tag or commit; check the part behind @.";
  if (status === 401)
    return hasToken
      ? "There is no such model, or HF_TOKEN is not valid for it."
      : "There is no such model, or it is private or gated: set HF_TOKEN to a token that may read it.";
  if (status === 404)
    return "The Hub has no model of that name, and there is no folder of that name on this machine.";
  if (status === 429) return "The Hub limits requests: wait a few minutes, or set HF_TOKEN.";
  return "The Hub reported an internal error; run the same command again: downloaded files are kept.";
}

/** Parses Retry-After, in seconds or a date (RFC 9110); 0 if absent. */
function retryAfterMs({ headers }: Response): number {
  const text = headers.get("retry-after") ?? "";
  const ms = /^\d+$/.test(text) ? 1000 * Number(text) : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS) : 0;
}
