import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { HoneError } from "../errors.ts";
import { fileWork, Message, RUN_FILES, RunLogReader, type Sink, type StepDetails } from "../metrics/index.ts";
import type { StepRecord } from "../records.ts";
import { REWRITING } from "../shared/files/plain-file.ts";
import { completionTable, isDue } from "./completions.ts";
import type { TrackedRun } from "./tracker.ts";
import { type TableFile, WandbTables } from "./wandb-tables.ts";

const BLOCK_BYTES = 32_768;
const HEAD_BYTES = 7;
const [FULL, FIRST, MIDDLE, LAST] = [1, 2, 3, 4] as const;
const MAGIC = 0xbee1;

/** The client that this was checked with, and the oldest server that takes its records. */
const PRODUCER = "0.19.0";
const MIN_CONSUMER = "0.40.0";
/** Fields of `Record`. */
const RECORD = {
  num: 1,
  history: 2,
  summary: 3,
  files: 6,
  run: 17,
  exit: 18,
  final: 20,
  header: 21,
} as const;

export interface WandbOptions {
  readonly project: string;
  readonly entity?: string | undefined;
  readonly run: TrackedRun;
  /** When the run folder was first used, milliseconds since 1970. */
  readonly createdAt: number;
  /** Interval in steps of a table of completions. */
  readonly completions?: number | undefined;
}

/**
 * The folder that `wandb sync` uploads: what W&B's own client writes where it is offline
 * (WANDB_MODE=offline), as `<run folder>/wandb/offline-run-<time>-<id>/run-<id>.wandb`. Every opening writes
 * the file anew from the run log, so that steps which a resume discarded are not in it.
 * Throws HONE_ERR_IO naming the file. Source: wandb/proto/wandb_internal.proto,
 * wandb/sdk/internal/datastore.py.
 */
export class WandbOfflineRun implements Sink {
  readonly name = "wandb";
  readonly path: string;
  readonly #options: WandbOptions;
  readonly #tables: WandbTables;
  #log: RecordLog | undefined;
  #last: { readonly record: StepRecord; readonly at: number } | undefined;
  #closed = false;

  constructor(options: WandbOptions) {
    this.#options = options;
    const { run, createdAt } = options;
    const id = run.id.slice(0, 16);
    const [day, time] = new Date(createdAt).toISOString().replaceAll(/[-:]/g, "").slice(0, 15).split("T");
    const folder = join(run.dir, "wandb", `offline-run-${day}_${time}-${id}`);
    this.path = join(folder, `run-${id}.wandb`);
    fileWork(this.path, () => mkdirSync(join(folder, "files"), { recursive: true }));
    this.#tables = new WandbTables(join(folder, "files"));
  }

  write(record: StepRecord, { endedAt, groups }: StepDetails): void {
    if (this.#closed) throw new HoneError("HONE_ERR_STATE", `${this.path}: write after close`);
    this.#log ??= this.#begin(record.step);
    const isTabled = isDue(record.step, this.#options.completions);
    const table = isTabled ? this.#tables.add(record.step, completionTable(record.step, groups)) : undefined;
    this.#log.step(record, this.#secondsAt(endedAt), endedAt, table);
    this.#last = { record, at: endedAt };
  }

  ended(state: "finished" | "stopped" | "failed"): void {
    if (this.#log === undefined || this.#last === undefined) return;
    const { record, at } = this.#last;
    this.#log.add({ summary: summary(record, this.#secondsAt(at), at) });
    const seconds = Math.round(this.#secondsAt(at));
    this.#log.add({ exit: new Message().int(1, state === "failed" ? 1 : 0).int(2, seconds) });
    this.#log.add({ final: new Message() });
  }

  close(): void {
    this.#closed = true;
    this.#log?.close();
    this.#log = undefined;
  }

  /** Creates a new file with the steps of the run log before this one. */
  #begin(step: number): RecordLog {
    rmSync(`${this.path}.synced`, { force: true }); // the client's mark that it has uploaded the earlier file
    const log = new RecordLog(this.path);
    log.add({ header: new Message().message(1, new Message().bytes(1, PRODUCER).bytes(2, MIN_CONSUMER)) });
    log.add({ run: this.#runRecord() });
    const path = join(this.#options.run.dir, RUN_FILES.log);
    const tables = this.#tables.before(step);
    for (const earlier of existsSync(path) ? new RunLogReader(path) : []) {
      if (earlier.step >= step) break;
      const seconds = earlier.metrics["run/elapsed"] ?? 0;
      const at = this.#options.createdAt + 1000 * seconds;
      log.step(earlier, seconds, at, tables.get(earlier.step));
    }
    return log;
  }

  #runRecord(): Message {
    const { project, entity, run, createdAt } = this.#options;
    const config = new Message();
    for (const [key, value] of Object.entries(run.recipe as object)) config.message(1, item(key, value));
    const started = new Message().int(1, Math.floor(createdAt / 1000)).int(2, (createdAt % 1000) * 1_000_000);
    const record = new Message().bytes(1, run.id.slice(0, 16));
    if (entity !== undefined) record.bytes(2, entity);
    return record.bytes(3, project).message(4, config).bytes(8, run.name).message(17, started);
  }

  #secondsAt(at: number): number {
    return Math.max(0, (at - this.#options.createdAt) / 1000);
  }
}

type Part = Partial<Record<Exclude<keyof typeof RECORD, "num">, Message>>;

/** HistoryRecord {1 item {1 key, 16 value_json}*, 2 step {1 num}}: steps count from the run's first, which is 1. */
function history(record: StepRecord, seconds: number, at: number, table: TableFile | undefined): Part {
  const message = new Message();
  for (const [key, value] of valuesOf(record, seconds, at)) message.message(1, item(key, value));
  if (table !== undefined) message.message(1, item("completions", table));
  return { history: message.message(2, new Message().int(1, record.step)) };
}

/** SummaryRecord {1 update {1 key, 16 value_json}*}: the values that the list of runs shows. */
function summary(record: StepRecord, seconds: number, at: number): Message {
  const message = new Message();
  for (const [key, value] of valuesOf(record, seconds, at)) message.message(1, item(key, value));
  return message;
}

function valuesOf({ step, metrics }: StepRecord, seconds: number, at: number): [string, unknown][] {
  return [...Object.entries(metrics), ["_step", step], ["_runtime", seconds], ["_timestamp", at / 1000]];
}

const item = (key: string, value: unknown): Message =>
  new Message().bytes(1, key).bytes(16, JSON.stringify(value));

/**
 * Records in blocks of 32 KiB, each with the CRC-32 of its type and bytes; each write reaches the file before it returns.
 * Source: LevelDB, doc/log_format.md, with the header and the CRC of W&B.
 */
class RecordLog {
  readonly #path: string;
  readonly #fd: number;
  #size = 0;
  #number = 0;

  constructor(path: string) {
    this.#path = path;
    this.#fd = fileWork(path, () => openSync(path, REWRITING));
    const head = Buffer.from(":W&B\0\0\0", "latin1");
    head.writeUInt16LE(MAGIC, 4);
    this.#append(head);
  }

  add(part: Part): void {
    const [[kind, message]] = Object.entries(part) as [[keyof Part, Message]];
    const data = new Message()
      .int(RECORD.num, ++this.#number)
      .message(RECORD[kind], message)
      .finish();
    for (let at = 0, first = true; first || at < data.length; first = false) {
      const left = BLOCK_BYTES - (this.#size % BLOCK_BYTES);
      if (left < HEAD_BYTES) this.#append(Buffer.alloc(left));
      const room = BLOCK_BYTES - (this.#size % BLOCK_BYTES) - HEAD_BYTES;
      const piece = data.subarray(at, at + room);
      at += piece.length;
      const ends = at === data.length;
      this.#append(framed(piece, first ? (ends ? FULL : FIRST) : ends ? LAST : MIDDLE));
    }
  }

  /** A step, and before it the file of its table, for the client to upload: FilesRecord {1 files {1 path, 2 policy: now}}. */
  step(record: StepRecord, seconds: number, at: number, table: TableFile | undefined): void {
    if (table !== undefined)
      this.add({ files: new Message().message(1, new Message().bytes(1, table.path).int(2, 0)) });
    this.add(history(record, seconds, at, table));
  }

  close(): void {
    closeSync(this.#fd);
  }

  #append(bytes: Buffer): void {
    fileWork(this.#path, () => {
      for (let written = 0; written < bytes.length; ) written += writeSync(this.#fd, bytes, written);
    });
    this.#size += bytes.length;
  }
}

function framed(piece: Buffer, type: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(crc32(piece, crc32(Buffer.of(type))), 0);
  head.writeUInt16LE(piece.length, 4);
  head.writeUInt8(type, 6);
  return Buffer.concat([head, piece]);
}
