/**
 * Decides what a folder's record may make a command execute. The author of a run folder chose the modules, servers
 * and files that its recipe names, but the command has the rights and secrets of its user. So a record is marked when
 * it is read, and every place that imports a module or opens a server for it checks here first. A recipe that the
 * user wrote has no mark, and may name anything.
 */
import { createHash } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { HoneError } from "./errors.ts";

/** Something that a record asks a command to do. */
export type Demand = {
  /** The field of the record that names the module or server, such as "verification.modules.poems". */
  readonly field: string;
} & (
  | { readonly kind: "module"; readonly url: string; readonly sha256?: string | undefined }
  /** A server that receives completions, and the environment variable with its key. */
  | { readonly kind: "server"; readonly url: string; readonly keyEnv?: string | undefined }
  /** A program to start, with its arguments. */
  | { readonly kind: "program"; readonly command: readonly string[] }
  /** A file or folder that the command writes outside of the record's own folder. */
  | { readonly kind: "file"; readonly path: string }
  /** Environment variables that modules receive. */
  | { readonly kind: "variables"; readonly names: readonly string[] }
);

/** What the user allows folder records to request. */
export class Trust {
  readonly allows: (demand: Demand) => boolean;
  /** How the user can allow more, one sentence. */
  readonly how: string;

  private constructor(allows: Trust["allows"], how: string) {
    this.allows = allows;
    this.how = how;
  }

  /** Allows everything that a record names. */
  static readonly all = new Trust(() => true, "");

  /** Allows nothing. */
  static none(how = "If you know the folder's origin and these files, pass trust: Trust.all."): Trust {
    return new Trust(() => false, how);
  }

  /**
   * Allows what the user's own recipe also names: the same files, with the recorded hash, and the same
   * servers.
   */
  static alike(own: readonly Demand[], how?: string): Trust {
    return new Trust((demand) => own.some((one) => isAlike(demand, one)), how ?? Trust.none().how);
  }
}

function isAlike(demand: Demand, own: Demand): boolean {
  if (demand.kind === "module" && own.kind === "module") {
    const file = fileOf(demand.url);
    const isSame = realPath(file) === realPath(fileOf(own.url));
    return isSame && (demand.sha256 === undefined || demand.sha256 === hashOrNone(file));
  }
  if (demand.kind === "server" && own.kind === "server")
    return demand.url === own.url && (demand.keyEnv === undefined || demand.keyEnv === own.keyEnv);
  if (demand.kind === "program" && own.kind === "program")
    return JSON.stringify(demand.command) === JSON.stringify(own.command);
  if (demand.kind === "file" && own.kind === "file") return realPath(demand.path) === realPath(own.path);
  if (demand.kind === "variables" && own.kind === "variables")
    return demand.names.every((name) => own.names.includes(name));
  return false;
}

/** What the user allows for a folder's record, and the recorded hashes of its modules. */
export interface Terms {
  /** Default: nothing is allowed. */
  readonly trust?: Trust | undefined;
  /** Hashes, by path, that the modules' files had when the run recorded them. */
  readonly modules?: Readonly<Record<string, string>> | undefined;
}

/** The folder that a record was read from, and its terms. */
interface Origin extends Terms {
  readonly dir: string;
  readonly trust: Trust;
}

/** Enumerable, so that a spread copy keeps it; JSON and structured clones drop it. */
const ORIGIN = Symbol.for("hone.trust.origin");
type Marked = { [ORIGIN]?: Origin };

/** Marks a record as read from a folder, and returns it. */
export function readFrom<T extends object>(
  record: T,
  dir: string,
  { trust = Trust.none(), modules }: Terms = {},
): T {
  (record as Marked)[ORIGIN] = { dir, trust, modules };
  return record;
}

/** Copies the mark of a record to an object derived from it. */
export function keepOrigin<T extends object>(made: T, from: unknown): T {
  const origin = (from as Marked | undefined)?.[ORIGIN];
  return origin === undefined ? made : readFrom(made, origin.dir, origin);
}

/** A record read from a folder, and what the record would make a command do: run modules and programs, contact servers, read files. */
export interface Asking {
  readonly record: object;
  readonly demands: () => readonly Demand[];
}

/** Throws HONE_ERR_TRUST with a list of everything that folder records ask for and the user did not allow. */
export function expectTrusted(asking: readonly Asking[]): void {
  const refused = new Map<string, Demand>();
  let origin: Origin | undefined;
  for (const { record, demands } of asking) {
    const from = (record as Marked)[ORIGIN];
    if (from === undefined) continue;
    for (const demand of demands().map((one) => withHash(one, from))) {
      if (from.trust.allows(demand)) continue;
      origin ??= from;
      refused.set(JSON.stringify(demand), demand);
    }
  }
  if (origin !== undefined) throw refusal(origin, [...refused.values()]);
}

/** A module's demand, with the folder's recorded hash if the field has none. */
function withHash(demand: Demand, { modules = {} }: Origin): Demand {
  if (demand.kind !== "module" || demand.sha256 !== undefined) return demand;
  const file = fileOf(demand.url);
  const sha256: unknown = Object.hasOwn(modules, file) ? modules[file] : undefined;
  return typeof sha256 === "string" ? { ...demand, sha256 } : demand;
}

/** Hashes of existing module files by path, for a folder's record. */
export function moduleHashes(demands: readonly Demand[]): Record<string, string> {
  const files = demands.flatMap((demand) => (demand.kind === "module" ? [fileOf(demand.url)] : []));
  return Object.fromEntries(
    files.flatMap((file) => {
      const found = hashOrNone(file);
      return found === undefined ? [] : [[file, found]];
    }),
  );
}

const SHOWN = 20;
const MOST_CHARS = 300;
const cut = (text: string): string => (text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}...` : text);

function refusal({ dir, trust }: Origin, demands: readonly Demand[]): HoneError {
  const shown = demands.slice(0, SHOWN).map((demand) => `\n  ${cut(demand.field)}: ${textOf(demand)}`);
  const more = demands.length > SHOWN ? `\n  and ${demands.length - SHOWN} more` : "";
  const message = `${dir}: this command would do what the folder's record names, and you have not allowed it:`;
  return new HoneError("HONE_ERR_TRUST", `${message}${shown.join("")}${more}`, {
    hint: trust.how,
    details: { dir, demands },
  });
}

function textOf(demand: Demand): string {
  if (demand.kind === "variables") return `gives modules ${cut(demand.names.join(", "))} of the environment`;
  if (demand.kind === "program") return `starts ${cut(demand.command.join(" "))}`;
  if (demand.kind === "file") return `writes ${cut(demand.path)}`;
  if (demand.kind === "server") {
    const key = demand.keyEnv === undefined ? "" : `, with the key in ${cut(demand.keyEnv)}`;
    return `sends to ${cut(demand.url)}${key}`;
  }
  const file = fileOf(demand.url);
  return `runs ${cut(file)} (${hashText(hashOrNone(file), demand.sha256)})`;
}

function hashText(found: string | undefined, recorded: string | undefined): string {
  const then = recorded === undefined ? "no hash" : `sha256 ${cut(recorded)}`;
  if (found === undefined) return `no such file; the record has ${then}`;
  return `sha256 ${found}${found === recorded ? ", as recorded" : `; the record has ${then}`}`;
}

/** The path in a module's URL, without the export name; returns other text unchanged. */
function fileOf(url: string): string {
  try {
    return fileURLToPath(url.split("#", 1)[0]!);
  } catch {
    return url;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** Hash of a file's bytes, 64 hexadecimal digits. Throws the file system's error. */
export const fileHash = (path: string): string =>
  createHash("sha256").update(readFileSync(path)).digest("hex");

function hashOrNone(path: string): string | undefined {
  try {
    return fileHash(path);
  } catch {
    return undefined;
  }
}
