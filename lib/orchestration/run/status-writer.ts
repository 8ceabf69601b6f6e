import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Recipe, verifierWorkers } from "../../config/index.ts";
import { type PipelineStatus, RUN_FILES, type StageStatus, writeWholeBeside } from "../../metrics/index.ts";
import type { EngineStats } from "../../native/face.ts";
import { type Diagnosis, diagnose, type PipelineFacts, type PipelineSnapshot } from "../pipeline/index.ts";
import { ControlInbox, type Controlled } from "./control-inbox.ts";
import { GpuUsage } from "./gpu-usage.ts";
import type { Lifecycle } from "./lifecycle.ts";
import { EndedProcesses, processRows } from "./process-rows.ts";
import type { RunContext } from "./run-context.ts";
import type { Training } from "./training.ts";

const EVERY_MS = 1000;
/** Time without progress after which the sentence is shown as an alarm, long before the run gives up (training.stallSeconds). */
const STUCK_MS = 10_000;

/**
 * Writes line.json once a second during the run, and executes the requests in its folder. An error here (a full disk)
 * causes one warning and does not end the run.
 */
export class StatusWriter {
  readonly requests: ControlInbox;
  readonly #context: RunContext;
  readonly #lifecycle: Lifecycle<Training>;
  readonly #gpu = new GpuUsage();
  readonly #startedMs = Date.now();
  readonly #timer: NodeJS.Timeout;
  #phase = { name: "preparing", done: 0, total: 0 };
  #before = { atMs: Date.now(), tokens: 0, cpu: process.cpuUsage() };
  #waits = { key: "", sinceMs: Date.now() };
  #moved = { progress: Number.NaN, atMs: Date.now() };
  #timeouts: { step: number; counts: Readonly<Record<string, number>> } = { step: -1, counts: {} };
  #failed = false;
  /** The file is being written. */
  #writing: Promise<void> | undefined;
  readonly #ended = new EndedProcesses();

  constructor(context: RunContext, lifecycle: Lifecycle<Training>, run: Controlled) {
    this.#context = context;
    this.#lifecycle = lifecycle;
    const { listeners } = context.publisher;
    this.requests = new ControlInbox(context.options.dir, run, (end) => listeners.emit("control", end));
    listeners.on("phase", (name, total) => {
      this.#phase = { name, done: 0, total };
    });
    listeners.on("warmStart", ({ step, steps }) => {
      this.#phase = { name: "warm start", done: step, total: steps };
    });
    this.#timer = setInterval(() => this.look(), EVERY_MS).unref();
    // only the timer keeps a paused run's process alive when nothing is in progress
    listeners.on("paused", (paused) => void (paused ? this.#timer.ref() : this.#timer.unref()));
    this.look();
  }

  look(): void {
    try {
      this.requests.look();
    } catch (error) {
      this.#warnOnce(error);
    }
    if (this.#writing !== undefined) return; // the previous write still runs
    this.#writing = this.#write().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Writes how the run ended, and no more. */
  async close(end: NonNullable<PipelineStatus["end"]>, sentence: string): Promise<void> {
    clearInterval(this.#timer);
    await this.#writing;
    await this.#write({ end, waits: { sentence, sinceMs: Date.now(), stuck: false } });
  }

  /** Asynchronous: otherwise the run's thread would wait for the disk once a second. Never rejects. */
  async #write(last: Partial<PipelineStatus> = {}): Promise<void> {
    try {
      const { options, publisher } = this.#context;
      const status = { ...this.#status(), ...last };
      this.#context.processes = status.processes ?? [];
      if (last.end === undefined && !status.paused) publisher.listeners.emit("waits", status.waits.sentence);
      for (const end of this.#ended.of(this.#context.processes)) publisher.warn(end);
      await writeWholeBeside(join(options.dir, RUN_FILES.line), `${JSON.stringify(status)}\n`);
    } catch (error) {
      this.#warnOnce(error);
    }
  }

  #warnOnce(error: unknown): void {
    if (!this.#failed) this.#context.publisher.warn(`cannot write line.json: ${(error as Error).message}`);
    this.#failed = true;
  }

  #status(): PipelineStatus {
    const { resources, progress, stop } = this.#context;
    const { recipe, trainer, verifiers } = resources;
    const others = resources.core.processes?.();
    const now = Date.now();
    const moment = this.#lifecycle.training?.pipeline.snapshot();
    const facts = moment && this.#facts(moment);
    const engine = moment?.engine;
    const [before, cpu] = [this.#before, process.cpuUsage()];
    const tokens = (engine?.decodeTokens ?? 0) as number;
    const elapsed = Math.max(1, now - before.atMs);
    this.#before = { atMs: now, tokens, cpu };
    const busyMicros = cpu.user + cpu.system - before.cpu.user - before.cpu.system;
    const training = this.#phase.name === "training";
    const version = { trainer: trainer.version, engine: engine?.version ?? 0 };
    const tokensPerSecond = (1000 * Math.max(0, tokens - before.tokens)) / elapsed;
    const isTraining = facts?.training ?? false;
    const own = { phase: this.#phase.name, version, tokensPerSecond, training: isTraining };
    return {
      schema: 1,
      pid: process.pid,
      writtenMs: now,
      sittingStartedMs: this.#startedMs,
      phase: training ? { ...this.#phase, done: progress.step } : this.#phase,
      step: progress.step,
      steps: recipe.training.steps,
      paused: this.#lifecycle.paused,
      end: stop.signal.aborted ? "stopping" : undefined,
      waits: this.#waitsFor(facts, moment?.progress, now),
      stages: facts ? stagesOf(facts) : [],
      credits: facts?.credits ?? { free: recipe.training.credits, total: recipe.training.credits },
      version,
      engine: {
        pagesUsed: engine?.pagesUsed ?? 0,
        pagesTotal: engine?.pagesTotal ?? 0,
        tokensPerSecond,
        ...(recipe.rollouts.recordEveryTokens > 0 && resumedOf(engine)),
      },
      verifiers: facts?.verifiers ?? [],
      verifierWorkers: facts?.workers ?? verifierWorkers(recipe),
      machine: machineOf(recipe, busyMicros / 1000 / elapsed, this.#gpu),
      processes: processRows({ ...own, others, verifiers }),
      store: others?.store,
      weights: others?.weights,
      requests: this.requests.outcomes,
    };
  }

  #facts(moment: PipelineSnapshot): PipelineFacts {
    const { step } = this.#context.progress;
    const counts = Object.fromEntries(moment.verifiers.map(({ name, timeouts }) => [name, timeouts]));
    if (step !== this.#timeouts.step) this.#timeouts = { step, counts };
    const recent = Object.entries(counts).map(([name, n]) => [name, n - (this.#timeouts.counts[name] ?? 0)]);
    const { stage, paused } = this.#lifecycle;
    const hook = stage.at === "hook" ? stage.hook : moment.hook;
    const doing = this.#context.options.hooks?.doing?.();
    return { ...moment, step, paused, hook, doing, recentTimeouts: Object.fromEntries(recent) };
  }

  #waitsFor(facts: PipelineFacts | undefined, progress: number | undefined, now: number) {
    const { key, sentence } = facts === undefined ? this.#preparing() : diagnose(facts);
    if (key !== this.#waits.key) this.#waits = { key, sinceMs: now };
    if (progress === undefined || progress !== this.#moved.progress)
      this.#moved = { progress: progress ?? Number.NaN, atMs: now };
    const stuck = !this.#lifecycle.paused && now - this.#moved.atMs >= STUCK_MS;
    return { sentence, sinceMs: this.#waits.sinceMs, stuck };
  }

  #preparing(): Diagnosis {
    const { name, done, total } = this.#phase;
    const { stage } = this.#lifecycle;
    if (stage.at === "hook") {
      const doing = this.#context.options.hooks?.doing?.() ?? `in your hook ${stage.hook}`;
      return { key: doing, sentence: `before training: ${doing}` };
    }
    return { key: name, sentence: total > 0 ? `${name}: ${done} of ${total} steps` : name };
  }
}

/** The boxes of the status page, from left to right. */
function stagesOf(facts: PipelineFacts): StageStatus[] {
  const { credits, outstanding, running, waiting, verifying, ready, wanted, training, step, paused } = facts;
  const groups = "groups" as const;
  const out = facts.verifiers.reduce((sum, verifier) => sum + verifier.out, 0);
  return [
    {
      name: "prompts",
      holds: credits.free,
      of: credits.total,
      unit: groups,
      busy: !paused && credits.free > 0,
      detail: `${outstanding} groups under way${paused ? "; paused" : ""}`,
    },
    {
      name: "engine",
      holds: running + waiting,
      unit: "sequences",
      busy: running > 0,
      detail: `${running} running, ${waiting} waiting for room`,
    },
    {
      name: "verifiers",
      holds: verifying,
      unit: groups,
      busy: verifying > 0,
      detail: `${out} completions out`,
    },
    {
      name: "batcher",
      holds: ready,
      of: wanted,
      unit: groups,
      busy: ready > 0,
      detail: `settled; a step takes ${wanted}`,
    },
    {
      name: "trainer",
      holds: training ? wanted : 0,
      of: wanted,
      unit: groups,
      busy: training,
      detail: training ? `in step ${step + 1}` : "waits for a batch",
    },
  ];
}

function machineOf({ device }: Recipe, processors: number, gpu: GpuUsage): PipelineStatus["machine"] {
  return {
    rssBytes: process.memoryUsage.rss(),
    heapBytes: process.memoryUsage().heapUsed,
    threads: threadCount(),
    processors,
    device,
    gpu: device === "cuda" ? gpu.latest : undefined,
  };
}

/** Threads of this process, as Linux counts them; 0 elsewhere. */
function threadCount(): number {
  try {
    return Number(/^Threads:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

const resumedOf = ({ takenUp, takenUpTokens, lostTokens }: Partial<EngineStats> = {}) => ({
  takenUp: { rollouts: takenUp ?? 0, tokens: takenUpTokens ?? 0, lostTokens: lostTokens ?? 0 },
});
