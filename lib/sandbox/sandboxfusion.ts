import { z } from "zod";
import { HoneError } from "../errors.ts";
import { within } from "../shared/async/deadline.ts";
import { HARNESS, jobBytes, readTraces, stdinOf } from "./harness.ts";
import { neededImports } from "./preamble.ts";
import {
  type PythonLimits,
  type PythonProgram,
  type PythonRun,
  type PythonSandbox,
  type Readiness,
  SandboxFault,
  TRIAL,
  TRIAL_LIMITS,
} from "./python-sandbox.ts";

const REPORT_FILE = "hone-report.bin";
/** Time for the server's own start and queue, beyond the program's time. */
const SPARE_MS = 10_000;
const PROBE_MS = 3000;

const runSchema = z.object({
  status: z.string(),
  execution_time: z.number().nullish(),
  return_code: z.number().nullish(),
  stdout: z.string().nullish(),
  stderr: z.string().nullish(),
});
const answerSchema = z.object({
  status: z.string(),
  message: z.string().nullish(),
  run_result: runSchema.nullish(),
  files: z.record(z.string(), z.string()).nullish(),
});
type Answer = z.infer<typeof answerSchema>;

/** The job is inside the script; the reports come back in a file that the server returns. */
const launcher = (job: Buffer): string => `
import base64
def launch():
    sys.argv[:] = ["solution.py"]
    job = marshal.loads(base64.b64decode("${job.toString("base64")}"))
    opened = open
    def report(data):
        with opened("${REPORT_FILE}", "ab") as file:
            file.write(data)
    hone_run(job, report)
launch()
`;

/**
 * A SandboxFusion server that another party operates and that runs one script per test. How well it contains
 * a program, and whether its runs are fresh, is that server's responsibility; it gets the limits on time and
 * memory.
 * Source: bytedance/SandboxFusion, POST /run_code.
 */
export class SandboxFusion implements PythonSandbox {
  readonly name = "sandboxfusion";
  readonly #url: string | undefined;
  #probing: Promise<Readiness> | undefined;

  /** @param url of the server, without a path; without one the driver is not usable */
  constructor(url: string | undefined) {
    this.#url = url?.replace(/\/$/, "");
  }

  probe(): Promise<Readiness> {
    this.#probing ??= this.#tryOut();
    return this.#probing;
  }

  async run(program: PythonProgram, limits: PythonLimits, signal?: AbortSignal): Promise<PythonRun> {
    const started = performance.now();
    const answer = await this.#ask(program, limits, signal);
    return { ...this.#runOf(answer, limits), spentMs: performance.now() - started };
  }

  #runOf(answer: Answer, limits: PythonLimits): Omit<PythonRun, "spentMs"> {
    const result = answer.run_result;
    // A script that fails is `Failed` with a result; without a result, or with any other status, no script was run.
    if (!result || !["Success", "Failed"].includes(answer.status)) {
      throw this.#fault(`status ${answer.status}: ${answer.message ?? ""}`);
    }
    const [stdout, stderr] = [result.stdout ?? "", result.stderr ?? ""];
    if (result.status === "TimeLimitExceeded") {
      return { end: "too-slow", detail: "", stdout, stderr, value: undefined };
    }
    if (Buffer.byteLength(stdout) > limits.outputBytes) {
      return { end: "too-much-output", detail: "", stdout: "", stderr, value: undefined };
    }
    const report = Buffer.from(answer.files?.[REPORT_FILE] ?? "", "base64");
    const run = readTraces({ report, stdout, stderr, status: statusOf(result.return_code) });
    // The program can remove the file. That scripts run at all was checked when the server was tried out.
    return run ?? { end: "failed", detail: "removed its report", stdout, stderr, value: undefined };
  }

  async #ask(program: PythonProgram, limits: PythonLimits, signal?: AbortSignal): Promise<Answer> {
    const request = {
      code: HARNESS + launcher(jobBytes(program, neededImports(program.source))),
      language: "python",
      stdin: stdinOf(program),
      compile_timeout: limits.wallMs / 1000,
      run_timeout: limits.wallMs / 1000,
      memory_limit_MB: Math.ceil(limits.memoryBytes / 2 ** 20),
      files: {},
      fetch_files: [REPORT_FILE],
    };
    try {
      return await within(limits.wallMs + SPARE_MS, signal, (bounded) => this.#post(request, bounded));
    } catch (cause) {
      if (signal?.aborted)
        throw new HoneError("HONE_ERR_ABORTED", "the run of the program was cancelled", { cause });
      throw this.#fault(cause instanceof Error ? cause.message : String(cause));
    }
  }

  async #post(request: object, signal: AbortSignal): Promise<Answer> {
    const response = await fetch(`${this.#url}/run_code`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
      signal,
    });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return answerSchema.parse(await response.json());
  }

  async #tryOut(): Promise<Readiness> {
    if (!this.#url) return { usable: false, why: "HONE_SANDBOX_URL is not set" };
    try {
      const response = await fetch(`${this.#url}/v1/ping`, { signal: AbortSignal.timeout(PROBE_MS) });
      if (!response.ok) return { usable: false, why: `${this.#url} answers HTTP ${response.status}` };
      const { end, stdout, detail } = await this.run(TRIAL, TRIAL_LIMITS);
      if (end !== "finished") return { usable: false, why: `the trial program ended ${end}: ${detail}` };
      return { usable: true, what: `server ${this.#url}, python ${stdout.trim()}` };
    } catch (error) {
      if (error instanceof SandboxFault) return { usable: false, why: `${this.#url}: ${error.why}` };
      return { usable: false, why: `${this.#url} does not answer: ${causeOf(error)}` };
    }
  }

  #fault(why: string): SandboxFault {
    return new SandboxFault(`SandboxFusion at ${this.#url}`, why);
  }
}

/** subprocess gives the number of a signal as a negative status. */
const statusOf = (code: number | null | undefined): number =>
  code == null ? 1 : code < 0 ? 128 - code : code;

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
