import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { HoneError } from "../errors.ts";
import type { StepRecord } from "../records.ts";
import { crc32c } from "../shared/files/crc32c.ts";
import { APPENDING } from "../shared/files/plain-file.ts";
import { fileWork, type Sink, type StepDetails } from "./sink.ts";
import {
  histogramsOf,
  restartEvent,
  samplesOf,
  scalars,
  summaryEvent,
  versionEvent,
} from "./tensorboard-events.ts";

/** A CRC stored with its own data is rotated and offset, so that a CRC over CRCs remains meaningful. */
export function maskedCrc32c(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** One TFRecord: u64 length, masked CRC of it, the bytes, masked CRC of them; little-endian. */
export function tfRecord(data: Uint8Array): Buffer {
  const record = Buffer.alloc(16 + data.length);
  record.writeBigUInt64LE(BigInt(data.length), 0);
  record.writeUInt32LE(maskedCrc32c(record.subarray(0, 8)), 8);
  record.set(data, 12);
  record.writeUInt32LE(maskedCrc32c(data), 12 + data.length);
  return record;
}

/** Steps between texts, which take most of a file. */
const STEPS_BETWEEN_SAMPLES = 10;

/**
 * Event files for TensorBoard (and W&B's import), a new one each time a run is opened: every metric, histograms of
 * the step's rollouts, and at the first and every tenth step one completion per domain. The first record of a file
 * makes readers discard earlier files' events from its step on (for a run resumed from an older checkpoint). Throws
 * HONE_ERR_IO naming the file. Source: tensorflow/core/util/event.proto, lib/io/record_writer.h.
 */
export class TensorBoardSink implements Sink {
  readonly name = "tensorboard";
  readonly path: string;
  readonly #nowSeconds: () => number;
  #fd: number | undefined;
  #begun = false;

  /** @param nowSeconds wall clock since 1970, seconds. */
  constructor(directory: string, nowSeconds: () => number = () => Date.now() / 1000) {
    this.#nowSeconds = nowSeconds;
    const started = Math.floor(nowSeconds());
    this.path = join(directory, `events.out.tfevents.${started}.${hostname()}.${process.pid}`);
    fileWork(this.path, () => {
      mkdirSync(directory, { recursive: true });
      this.#fd = openSync(this.path, APPENDING);
    });
    this.#append(versionEvent(nowSeconds()));
  }

  write({ step, metrics }: StepRecord, { groups }: Pick<StepDetails, "groups">): void {
    const now = this.#nowSeconds();
    if (!this.#begun && step > 1) this.#append(restartEvent(now, step));
    this.#begun = true;
    const samples = step === 1 || step % STEPS_BETWEEN_SAMPLES === 0 ? samplesOf(groups) : [];
    this.#append(summaryEvent(now, step, [...scalars(metrics), ...histogramsOf(groups), ...samples]));
  }

  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #append(event: Uint8Array): void {
    const fd = this.#fd;
    if (fd === undefined) throw new HoneError("HONE_ERR_STATE", `${this.path}: write after close`);
    const record = tfRecord(event);
    fileWork(this.path, () => {
      for (let written = 0; written < record.length; ) written += writeSync(fd, record, written);
    });
  }
}
