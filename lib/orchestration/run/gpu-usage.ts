import { execFile } from "node:child_process";
import type { PipelineStatus } from "../../metrics/index.ts";

type Usage = NonNullable<PipelineStatus["machine"]["gpu"]>;

const EVERY_MS = 5000;
const QUERY = [
  "--query-gpu=memory.used,memory.total,utilization.gpu",
  "--format=csv,noheader,nounits",
  "--id=0",
];

/** Memory and load of the first GPU according to nvidia-smi, queried at most every five seconds. */
export class GpuUsage {
  readonly #program: string;
  #latest: Usage | undefined;
  #askedMs = Number.NEGATIVE_INFINITY;
  #asking = false;

  constructor(program = "nvidia-smi") {
    this.#program = program;
  }

  /** GPU usage in the tool's last answer; undefined before the first answer, or if the tool does not work. */
  get latest(): Usage | undefined {
    if (!this.#asking && performance.now() - this.#askedMs >= EVERY_MS) this.#ask();
    return this.#latest;
  }

  #ask(): void {
    this.#asking = true;
    this.#askedMs = performance.now();
    execFile(this.#program, QUERY, { timeout: EVERY_MS }, (error, output) => {
      this.#asking = false;
      this.#latest = error === null ? parseUsage(output) : undefined;
    });
  }
}

/** Parses "1234, 81559, 97": MiB used, MiB in all, percent busy. */
export function parseUsage(output: string): Usage | undefined {
  const [used, total, busy] = output.split(",").map((cell) => Number(cell.trim()));
  if (!Number.isFinite(used) || !Number.isFinite(total)) return undefined;
  return {
    usedBytes: used! * 2 ** 20,
    totalBytes: total! * 2 ** 20,
    busy: Number.isFinite(busy) ? busy! / 100 : 0,
  };
}
