import { HoneError } from "../errors.ts";
import type { StepRecord } from "../records.ts";
import { AppendFile, wholeLines } from "./append-file.ts";
import { DigestWriter } from "./digest-writer.ts";
import type { Sink } from "./sink.ts";

/**
 * Appends one JSON line per step with one write each, so that a killed process loses at most the current line.
 * Opening the file cuts off a torn last line. Throws HONE_ERR_IO naming the file (disk full, no permission).
 * @param digest path of its running summary; none by default
 */
export class RunLog implements Sink {
  readonly name = "jsonl";
  readonly #file: AppendFile;
  readonly #digest: DigestWriter | undefined;

  constructor(path: string, digest?: string) {
    this.#file = new AppendFile(path);
    this.#digest = digest === undefined ? undefined : new DigestWriter(digest);
  }

  write(record: StepRecord): void {
    const line = `${JSON.stringify(record)}\n`;
    this.#file.append(line);
    const end = this.#file.size;
    this.#digest?.add(record, end - Buffer.byteLength(line), end);
  }

  close(): void {
    this.#file.close();
    this.#digest?.close();
  }
}

/**
 * Steps of a run log in ascending order. A torn last line is left out. A step that does not follow the one before it
 * (a run resumed from an older checkpoint) replaces everything from that step on. Throws HONE_ERR_IO if the file
 * cannot be read, HONE_ERR_FORMAT naming the line if a line other than the last is damaged.
 */
export const readRunLog = (path: string): StepRecord[] => [...new RunLogReader(path)];

/**
 * Reads a run log one step at a time. Scans the file once to find the valid lines and reads it again for each
 * iteration; needs eight bytes of memory per line. Throws the errors of `readRunLog`.
 */
export class RunLogReader implements Iterable<StepRecord> {
  readonly #path: string;
  /** Indices of the lines that no resume replaced. */
  readonly #lines: number[] = [];

  constructor(path: string) {
    this.#path = path;
    const steps: number[] = [];
    let index = 0;
    for (const line of wholeLines(path)) {
      const step = stepOf(line, `${path}:${index + 1}`);
      while (steps.length > 0 && steps.at(-1)! >= step) {
        steps.pop();
        this.#lines.pop();
      }
      steps.push(step);
      this.#lines.push(index);
      index += 1;
    }
  }

  /** Number of steps. */
  get length(): number {
    return this.#lines.length;
  }

  [Symbol.iterator](): Generator<StepRecord, void, undefined> {
    return this.within(0, Number.POSITIVE_INFINITY);
  }

  /** Records of the steps from `from` to `to`, both included. Does not parse other lines. */
  *within(from: number, to: number): Generator<StepRecord, void, undefined> {
    let next = 0;
    let index = 0;
    for (const line of wholeLines(this.#path)) {
      if (next === this.#lines.length) return;
      if (index === this.#lines[next]) {
        const at = index + 1;
        const step = stepOf(line, `${this.#path}:${at}`);
        if (step >= from && step <= to) yield parseRecord(line, () => `${this.#path}:${at}`);
        next += 1;
      }
      index += 1;
    }
  }
}

/** The step at the beginning of a line as RunLog writes it, without parsing the rest. */
function stepOf(line: string, where: string): number {
  const written = /^\{"step":(\d+),/.exec(line);
  return written === null ? parseRecord(line, () => where).step : Number(written[1]);
}

/** Parses a line of the log. Throws HONE_ERR_FORMAT. */
export function parseRecord(line: string, place: () => string): StepRecord {
  try {
    const record: unknown = JSON.parse(line);
    if (isStepRecord(record)) return record;
  } catch {
    // falls through to the typed error
  }
  const where = place();
  throw new HoneError("HONE_ERR_FORMAT", `${where}: not a step record: ${line.slice(0, 80)}`, {
    details: { where },
    hint: "Delete the line to continue without that step's metrics.",
  });
}

function isStepRecord(value: unknown): value is StepRecord {
  return (
    typeof value === "object" &&
    value !== null &&
    "step" in value &&
    typeof value.step === "number" &&
    "metrics" in value &&
    typeof value.metrics === "object" &&
    value.metrics !== null
  );
}
