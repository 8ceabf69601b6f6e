import { HoneError } from "../errors.ts";
import { ask, type HttpAnswer, notTaken, request } from "./http.ts";
import { sendTables } from "./mlflow-tables.ts";
import {
  NotTaken,
  type Sending,
  type Tracked,
  type TrackedEnd,
  type TrackedStep,
  type Tracker,
} from "./tracker.ts";

/** Limits of one request. Source: MLflow REST API, "Log Batch", request limits. */
const MOST_METRICS = 1000;
const MOST_PARAMS = 100;
/** Limits below those of every store: 500 characters of a parameter, 250 of a key. */
const LONGEST_VALUE = 500;
const LONGEST_KEY = 250;
/** Metric that is logged last in a step: a server that has this metric has the whole step. */
const MARK = "hone/step";
const RUN_TAG = "hone.run";
const STATUS = { finished: "FINISHED", stopped: "KILLED", failed: "FAILED" } as const;

export interface MlflowOptions {
  /** The tracking server, e.g. "http://127.0.0.1:5000". */
  readonly url: string;
  readonly experiment: string;
  /** Credentials, from the environment alone. */
  readonly headers: Readonly<Record<string, string>>;
  /** Interval in steps of a table of completions, as an artifact. */
  readonly completions?: number | undefined;
}

interface Memory {
  readonly mlflowRun: string;
  /** The recipe is logged. */
  readonly params: boolean;
  /** Artifacts that the server shows as tables, the newest last. */
  readonly tables?: readonly string[] | undefined;
}

/**
 * Metrics of every step, the recipe as parameters, and the state of the run, by MLflow's REST API. One MLflow
 * run per run folder, found again by a tag. MLflow cannot delete a point, nor recognise a repeated one:
 * before the first batch of a process, and after every failure, the tracker asks for the run's last step and
 * does not send steps up to it again.
 * Source: MLflow REST API 2.0.
 */
export class MlflowTracker implements Tracker {
  readonly name: string;
  readonly completionsEvery: number | undefined;
  readonly #options: MlflowOptions;
  /** Id of the MLflow run; cached so that a retry after a later failure need not look it up again. */
  #memory: Memory | undefined;
  /** The last step that the server has; undefined if uncertain. */
  #told: number | undefined;
  #running = false;

  constructor(options: MlflowOptions, name = "mlflow") {
    this.name = name;
    this.#options = options;
    this.completionsEvery = options.completions;
  }

  async send(entries: readonly Tracked[], sending: Sending): Promise<Memory> {
    try {
      const { mlflowRun, tables: before } = await this.#run(sending);
      // before the metrics, whose last step marks the batch as delivered: a table may be sent twice
      const place = { ...this.#options, signal: sending.signal, mlflowRun };
      const tables = await sendTables(place, entries, before);
      const memory = { mlflowRun, params: true, ...(tables && { tables }) };
      this.#memory = memory;
      this.#told ??= await this.#lastStep(memory.mlflowRun, sending.signal);
      const known = this.#told;
      const fresh = stepsAfter(entries, known);
      if (fresh.length > 0) {
        if (!this.#running) await this.#update(memory.mlflowRun, { status: "RUNNING" }, sending.signal);
        this.#running = true;
        await this.#metrics(memory.mlflowRun, fresh, sending.signal);
        this.#told = fresh.at(-1)!.step;
      }
      const end = entries.findLast((entry): entry is TrackedEnd => entry.kind === "end");
      if (end !== undefined && entries.at(-1) === end)
        await this.#ended(memory.mlflowRun, end, sending.signal);
      return memory;
    } catch (error) {
      this.#told = undefined;
      throw error;
    }
  }

  /** The folder's run: remembered, else found by its tag (the response to its creation may be lost), else a new one. */
  async #run(sending: Sending): Promise<Memory> {
    const { run, signal } = sending;
    this.#memory ??= sending.memory as Memory | undefined;
    this.#memory ??= { mlflowRun: await this.#findOrMake(sending), params: false };
    const { mlflowRun, params } = this.#memory;
    if (!params) await this.#params(mlflowRun, flatten(run.recipe), signal);
    this.#memory = { ...this.#memory, params: true };
    return this.#memory;
  }

  async #findOrMake({ run, signal }: Sending): Promise<string> {
    const experiment = await this.#experiment(signal);
    const found = await this.#post("runs/search", signal, {
      experiment_ids: [experiment],
      filter: `tags."${RUN_TAG}" = '${run.id}'`,
      max_results: 1,
    });
    const known = (found as { runs?: { info: { run_id: string } }[] }).runs?.[0];
    if (known !== undefined) return known.info.run_id;
    const made = await this.#post("runs/create", signal, {
      experiment_id: experiment,
      run_name: run.name,
      start_time: Date.now(),
      tags: [
        { key: RUN_TAG, value: run.id },
        { key: "mlflow.runName", value: run.name },
        { key: "mlflow.source.name", value: "hone" },
      ],
    });
    return textAt(made, "run", "info", "run_id");
  }

  async #experiment(signal: AbortSignal): Promise<string> {
    const name = this.#options.experiment;
    const known = await this.#get(
      `experiments/get-by-name?experiment_name=${encodeURIComponent(name)}`,
      signal,
    );
    if (known.status === 200) return textAt(known.body, "experiment", "experiment_id");
    if (codeOf(known) !== "RESOURCE_DOES_NOT_EXIST") throw notTaken(known);
    // another process may create it concurrently: then the next attempt finds it
    const made = await request({ ...this.#to("experiments/create", signal), json: { name } });
    if (made.status === 200) return textAt(made.body, "experiment_id");
    throw codeOf(made) === "RESOURCE_ALREADY_EXISTS"
      ? new NotTaken("the experiment was being made", { retryAfterMs: 100 })
      : notTaken(made);
  }

  async #params(
    mlflowRun: string,
    pairs: readonly (readonly [string, string])[],
    signal: AbortSignal,
  ): Promise<void> {
    for (let i = 0; i < pairs.length; i += MOST_PARAMS) {
      const params = pairs.slice(i, i + MOST_PARAMS).map(([key, value]) => ({ key, value }));
      await this.#post("runs/log-batch", signal, { run_id: mlflowRun, params });
    }
  }

  /** Puts whole steps in one request if they fit. */
  async #metrics(mlflowRun: string, steps: readonly TrackedStep[], signal: AbortSignal): Promise<void> {
    let batch: object[] = [];
    const flush = async () => {
      if (batch.length > 0) await this.#post("runs/log-batch", signal, { run_id: mlflowRun, metrics: batch });
      batch = [];
    };
    for (const entry of steps) {
      const points = pointsOf(entry);
      if (batch.length + points.length > MOST_METRICS) await flush();
      for (let i = 0; i < points.length; i += MOST_METRICS) {
        batch.push(...points.slice(i, i + MOST_METRICS));
        if (batch.length >= MOST_METRICS) await flush();
      }
    }
    await flush();
  }

  async #lastStep(mlflowRun: string, signal: AbortSignal): Promise<number> {
    const answer = await this.#get(`runs/get?run_id=${encodeURIComponent(mlflowRun)}`, signal);
    if (answer.status !== 200) throw notTaken(answer);
    const { run } = answer.body as { run?: { data?: { metrics?: { key: string; value: number }[] } } };
    return run?.data?.metrics?.find(({ key }) => key === MARK)?.value ?? 0;
  }

  async #ended(mlflowRun: string, { at, state }: TrackedEnd, signal: AbortSignal): Promise<void> {
    await this.#update(mlflowRun, { status: STATUS[state], end_time: Math.round(at) }, signal);
    this.#running = false;
  }

  async #update(mlflowRun: string, change: object, signal: AbortSignal): Promise<void> {
    await this.#post("runs/update", signal, { run_id: mlflowRun, ...change });
  }

  #to(path: string, signal: AbortSignal) {
    const { url, headers } = this.#options;
    return { url: `${url.replace(/\/+$/, "")}/api/2.0/mlflow/${path}`, headers, signal };
  }

  #get(path: string, signal: AbortSignal): Promise<HttpAnswer> {
    return request({ ...this.#to(path, signal), method: "GET" });
  }

  #post(path: string, signal: AbortSignal, json: object): Promise<unknown> {
    return ask({ ...this.#to(path, signal), json });
  }
}

/** Steps that the server lacks; of a step logged by two sessions keeps the first. */
function stepsAfter(entries: readonly Tracked[], known: number): TrackedStep[] {
  let last = known;
  const fresh: TrackedStep[] = [];
  for (const entry of entries) {
    if (entry.kind !== "step" || entry.step <= last) continue;
    fresh.push(entry);
    last = entry.step;
  }
  return fresh;
}

function pointsOf({ step, at, metrics }: TrackedStep): object[] {
  const point = (key: string, value: number) => ({
    key: mlflowKey(key),
    value,
    timestamp: Math.round(at),
    step,
  });
  return [...Object.entries(metrics).map(([key, value]) => point(key, value)), point(MARK, step)];
}

/**
 * Replaces characters that a key may not have; it may have letters, digits, "_", "-", ".", " ", ":" and "/".
 */
export function mlflowKey(name: string): string {
  return name
    .replaceAll("+", "-or-more")
    .replaceAll(/[^\w\-. :/]/g, "_")
    .slice(0, LONGEST_KEY);
}

/** A recipe as parameters: "optimizer.lr" to "0.001". Lists are one value, as JSON. */
export function flatten(value: unknown, path = ""): [string, string][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return [[mlflowKey(path), text.slice(0, LONGEST_VALUE)]];
  }
  return Object.entries(value).flatMap(([key, inner]) =>
    flatten(inner, path === "" ? key : `${path}.${key}`),
  );
}

const codeOf = ({ body }: HttpAnswer): unknown => (body as { error_code?: unknown } | undefined)?.error_code;

function textAt(body: unknown, ...path: readonly string[]): string {
  const found = path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], body);
  if (typeof found === "string" && found !== "") return found;
  throw new NotTaken(`its answer has no ${path.join(".")}: is this an MLflow server?`);
}

/**
 * Credentials of MLflow's own variables: a token, or a user and a password.
 * Throws HONE_ERR_CONFIG for a user without a password.
 */
export function mlflowHeaders(env: NodeJS.ProcessEnv): Record<string, string> {
  const { MLFLOW_TRACKING_TOKEN: token, MLFLOW_TRACKING_USERNAME: user } = env;
  if (token) return { authorization: `Bearer ${token}` };
  if (!user) return {};
  const password = env["MLFLOW_TRACKING_PASSWORD"];
  if (password === undefined)
    throw new HoneError(
      "HONE_ERR_CONFIG",
      "MLFLOW_TRACKING_USERNAME is set and MLFLOW_TRACKING_PASSWORD is not",
    );
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
}
