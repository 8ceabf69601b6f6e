import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { DeviceName } from "../device.ts";
import { HoneError } from "../errors.ts";
import {
  type Answerer,
  EndpointAnswerer,
  type EndpointOptions,
  EngineAnswerer,
  type EvaluationProgress,
  type EvaluationResults,
  evaluateSuites,
  openSuite,
  type Sampling,
  type Suite,
  suitesNamed,
} from "../suites/index.ts";
import { chatOf, modelFolder } from "./model-name.ts";

/** The model, the suites it answers, sampling, and the output folder. */
export interface EvaluateOptions extends Partial<Sampling> {
  /**
   * A model folder, "org/name" of the Hub, a run folder or "run@step"; with `endpoint` the model's name at
   * that server.
   */
  readonly model: string;
  /** Suite names ("aime25", "aime25=path"), files of rows, or user modules. */
  readonly suites: readonly string[];
  /** Folder of the evaluation. Default: evals/ and the model's name. */
  readonly out?: string | undefined;
  /** Folder of the published sets. Default "data". */
  readonly data?: string | undefined;
  /** Verifier for the rows of a file that are of no published kind. Default "math". */
  readonly verifier?: string | undefined;
  /** Largest number of the model's messages in an episode (default 3), and of tokens in one message. */
  readonly maxTurns?: number | undefined;
  readonly maxTurnTokens?: number | undefined;
  /** Sampling seeds. Default [42]. */
  readonly seeds?: readonly number[] | undefined;
  readonly attempts?: number | undefined;
  readonly limit?: number | undefined;
  /** Sequences that decode at once. Default 64. */
  readonly batch?: number | undefined;
  /** Verifier processes. Default 2. */
  readonly workers?: number | undefined;
  readonly device?: DeviceName | undefined;
  /** Storage type of matrices, keys and values on the CPU. Default: the type that the model's config.json names. */
  readonly weights?: "f32" | "bf16" | undefined;
  /** Ask a server instead of an engine. */
  readonly endpoint?: Omit<EndpointOptions, keyof Sampling | "model"> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: EvaluationProgress) => void) | undefined;
  /** Called with each suite, for instance to warn of rows that were left out. */
  readonly onSuite?: ((suite: Suite) => void) | undefined;
}

/** An evaluation: the folder in which it is kept, and its results. */
export interface Evaluated {
  /** Folder of completions and results. */
  readonly dir: string;
  readonly results: EvaluationResults;
}

/** Sampling settings of the Apriel-Reasoner paper. */
const SAMPLING: Sampling = { temperature: 0.6, topP: 0.95, maxTokens: 32_768 };

/**
 * Prompts a model with the problems of suites and judges its answers. Keeps everything in `out`: a further call with
 * the same model and sampling resumes an interrupted evaluation, or adds seeds or suites. Throws HONE_ERR_USAGE for a
 * suite or folder that does not fit, HONE_ERR_DATA for bad data, errors of loading the model, HONE_ERR_ENDPOINT, and
 * the signal's reason.
 */
export async function evaluate(options: EvaluateOptions): Promise<Evaluated> {
  const { model, seeds = [42], attempts, limit, workers = 2, signal, onProgress } = options;
  const dir = options.out ?? join("evals", nameOf(model));
  const suites: Suite[] = [];
  const { data, verifier, maxTurns, maxTurnTokens } = options;
  for (const spec of options.suites.flatMap(suitesNamed)) {
    const suite = await openSuite(spec, { data, verifier, maxTurns, maxTurnTokens });
    expectNew(suite, suites);
    options.onSuite?.(suite);
    suites.push(suite);
  }
  await using answerer = await openAnswerer(options);
  const plan = { dir, model: nameOf(model), seeds, attempts, limit, workers, signal, onProgress };
  return { dir, results: await evaluateSuites(answerer, suites, plan) };
}

function expectNew({ name }: Suite, others: readonly Suite[]): void {
  if (others.every((other) => other.name !== name)) return;
  throw new HoneError("HONE_ERR_USAGE", `two suites are named ${name}`, {
    hint: "Give each suite once; if two files have this name, rename one.",
  });
}

async function openAnswerer(options: EvaluateOptions): Promise<Answerer> {
  const { model, endpoint, batch = 64, device, weights } = options;
  const { temperature, topP, maxTokens } = SAMPLING;
  const sampling: Sampling = {
    temperature: options.temperature ?? temperature,
    topP: options.topP ?? topP,
    maxTokens: options.maxTokens ?? maxTokens,
  };
  if (endpoint !== undefined) return new EndpointAnswerer({ ...sampling, ...endpoint, model });
  const chat = chatOf(model);
  const folder = await modelFolder(model);
  return new EngineAnswerer(folder, { ...sampling, maxRunning: batch, device, weights, chat });
}

/** Short name of a model: the last part of a path, or the whole Hub name. */
const nameOf = (model: string): string =>
  (existsSync(model) || /@[\w-]+$/.test(model) ? basename(model.replace(/\/+$/, "")) : model).replaceAll(
    "/",
    "--",
  );
