import { join } from "node:path";
import { type Recipe, verifierWorkers } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import { RUN_FILES, readRunLog, readRunManifest } from "../metrics/index.ts";
import type { DomainName, StepRecord } from "../records.ts";
import { fitProcesses } from "./fit-processes.ts";
import { line, rates } from "./least-squares.ts";
import type { Machine, Spread, Workload } from "./machine.ts";
import { type RecordedGroupFacts, recordedGroups, recordedOutcomes } from "./recorded-outcomes.ts";
import { verifiersOf } from "./recorded-verifiers.ts";
import { average, type Metrics, mean, trainSeconds } from "./step-times.ts";
import type { Outcomes } from "./workload.ts";

/** A machine as a run's own log shows it, and the answers that the run had. */
export interface FittedMachine {
  readonly machine: Machine;
  readonly outcomes: (seed: number) => Outcomes;
  /** Measurements of the run, which a simulation of its own recipe should reproduce. */
  readonly measured: { readonly steps: number; readonly seconds: number };
}

const FEWEST = 5;

/**
 * Fits a machine to a run's log (steps.jsonl, events.jsonl and verdicts.jsonl of its folder): one process whose
 * engine and trainer share the hardware, or an actor and a trainer in separate processes. Throws HONE_ERR_DATA for a
 * run of fewer than five steps, and the errors of fitProcesses and of reading those files.
 * @param answersOf folder of another run that provides the answers
 */
export async function fitMachine(dir: string, answersOf = dir): Promise<FittedMachine> {
  const log = await readLog(dir);
  const { recipe, records, domains } = log;
  const one = sharedMachine(dir, recipe, records, domains);
  const cores = Number(readRunManifest(dir).versions["threads"]);
  const machine =
    recipe.hardware?.processes === undefined
      ? one
      : await fitProcesses({ dir, recipe, records, cores, answers: log.outcomes(recipe.seed) }, one);
  const last = records.at(-1)!;
  return {
    machine,
    outcomes: answersOf === dir ? log.outcomes : (await readLog(answersOf)).outcomes,
    measured: { steps: last.step, seconds: last.metrics["run/elapsed"]! },
  };
}

interface FittedLog extends Pick<FittedMachine, "outcomes"> {
  readonly recipe: Recipe;
  /** Steps that trained. */
  readonly records: readonly StepRecord[];
  readonly domains: Record<DomainName, Workload>;
}

async function readLog(dir: string): Promise<FittedLog> {
  const recipe = readRunManifest(dir).config as Recipe;
  const records = readRunLog(join(dir, RUN_FILES.log)).filter(({ metrics }) => "time/forward" in metrics);
  if (records.length < FEWEST) {
    throw new HoneError("HONE_ERR_DATA", `${dir}: ${records.length} steps that trained are too few to fit`, {
      hint: `Let it run for at least ${FEWEST} steps, better for fifty.`,
    });
  }
  const groups = recordedGroups(join(dir, RUN_FILES.events));
  const verifiers = await verifiersOf(join(dir, RUN_FILES.verdicts));
  const promptTokens = mean(records, "prompt-length/mean");
  // with several processes, the time of verdicts is part of a group's cost outside its engine
  const verify = (domain: DomainName) =>
    recipe.hardware?.processes === undefined ? verifyTime(records, verifiers.get(domain)) : NO_TIME;
  const domains = workloads(groups, verify, promptTokens);
  const beside = (domain: DomainName) => ({ promptTokens, verify: domains[domain]!.verify.mean });
  return { recipe, records, domains, outcomes: (seed) => recordedOutcomes(groups, seed, beside) };
}

const NO_TIME: Spread = { mean: 1e-6, cv: 0 };

function sharedMachine(
  dir: string,
  recipe: Recipe,
  records: readonly StepRecord[],
  domains: Record<DomainName, Workload>,
): Machine {
  const { maxRunning, pages, pageTokens } = recipe.engine;
  const overlaps = recipe.training.schedule === "async";
  const speed = overlaps ? speedDuringStep(records) : 1;
  const decoding = records.filter(({ metrics }) => metrics["speed/decode"] !== undefined);
  const step = line(decoding.map((record) => decodeStep(record, maxRunning, speed)));
  const training = line(records.map((record) => [packedTokens(record), trainSeconds(record)] as const));
  const gpus = recipe.device === "cuda" ? 1 : 0;
  return {
    from: `${records.length} steps of ${dir}`,
    gpus,
    actors: 1,
    trainers: 1,
    actor: {
      maxRunning,
      keyValueTokens: pages * pageTokens,
      decode: { fixed: step.a, perSequence: step.b, perContextToken: 0 },
      prefillPerToken: 1 / mean(records, "speed/prefill"),
      updatePause: mean(records, "engine/weight-swap-seconds"),
      swapPerToken: 0,
      speedDuringStep: speed,
    },
    trainer: {
      fixed: training.a,
      perToken: training.b,
      perSquaredToken: 0,
      between: Math.max(0, average(records.map(betweenSeconds))),
    },
    verifierWorkers: verifierWorkers(recipe),
    domains,
  };
}

/**
 * Fits tokens of a step = p (seconds without training) + q (seconds of training), and returns q / p: the engine's
 * relative speed while a step trains.
 */
function speedDuringStep(records: readonly StepRecord[]): number {
  const points = records.map(({ metrics: m }) => {
    const training = trainSeconds({ metrics: m });
    const busy = 1 - m["engine/idle"]!;
    return [(m["time/step"]! - training) * busy, training * busy, generated(m)] as const;
  });
  const found = rates(points);
  return found === undefined ? 1 : Math.min(1, found.q / found.p);
}

/** Mean batch, and seconds of a decode step at full speed. */
function decodeStep({ metrics: m }: StepRecord, maxRunning: number, speed: number): [number, number] {
  const batch = m["engine/occupancy"]! * maxRunning;
  const decodeSeconds = generated(m) / m["speed/decode"]!;
  const training = Math.min(1, trainSeconds({ metrics: m }) / m["time/step"]!);
  const work = 1 - training + speed * training;
  return [batch, (decodeSeconds * work * batch) / generated(m)];
}

const betweenSeconds = ({ metrics }: Metrics): number =>
  metrics["time/step"]! - metrics["time/waiting"]! - trainSeconds({ metrics });
const packedTokens = ({ metrics }: Metrics): number =>
  metrics["trained/tokens"]! / metrics["packing/counted"]!;
const generated = (metrics: StepRecord["metrics"]): number =>
  metrics["speed/generated"]! * metrics["time/step"]!;

/** Workload of each domain's groups from a summary. */
function workloads(
  groups: readonly RecordedGroupFacts[],
  verify: (domain: DomainName) => Spread,
  promptTokens: number,
): Record<DomainName, Workload> {
  const names = [...new Set(groups.map(({ domain }) => domain))];
  const ofDomain = (domain: DomainName): Workload => {
    const own = groups.filter((group) => group.domain === domain);
    const lengths = own.flatMap((group) => group.lengths);
    const middle = average(lengths);
    const deviation = Math.sqrt(average(lengths.map((length) => (length - middle) ** 2)));
    const kept = own.filter((group) => group.kept).length;
    return {
      length: { mean: middle, cv: deviation / middle },
      alike: 0,
      promptTokens,
      keep: Math.max(1, kept) / own.length,
      verify: verify(domain),
    };
  };
  return Object.fromEntries(names.map((domain) => [domain, ofDomain(domain)]));
}

/** Mean from calls and their seconds; spread from the last median and 95th percentile. */
function verifyTime(records: readonly Metrics[], verifier: string | undefined): Spread {
  const sum = (name: string) => records.reduce((all, { metrics }) => all + (metrics[name] ?? 0), 0);
  const calls = sum(`verifier/calls/${verifier}`);
  if (verifier === undefined || calls === 0) return NO_TIME;
  const { metrics } = records.at(-1)!;
  const [middle = 1, high = 1] = [
    metrics[`verifier/p50-ms/${verifier}`],
    metrics[`verifier/p95-ms/${verifier}`],
  ];
  const deviation = Math.max(0, Math.log(high / middle)) / 1.645;
  const seconds = Math.max(1e-6, sum(`verifier/seconds/${verifier}`) / calls);
  return { mean: seconds, cv: Math.sqrt(Math.expm1(Math.min(4, deviation ** 2))) };
}
