import { join } from "node:path";
import { type Recipe, verifierWorkers } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import { RUN_FILES, readRunLog, readRunManifest } from "../metrics/index.ts";
import type { DomainName, StepRecord } from "../records.ts";
import { line, rates } from "./least-squares.ts";
import type { Machine, Spread, Workload } from "./machine.ts";
import { type RecordedGroupFacts, recordedGroups, recordedOutcomes } from "./recorded-outcomes.ts";
import { verifiersOf } from "./recorded-verifiers.ts";
import type { Outcomes } from "./workload.ts";

/** A machine as a run's own log shows it, and the answers that the run had. */
export interface FittedMachine {
  readonly machine: Machine;
  readonly outcomes: (seed: number) => Outcomes;
  /** Of the run: what the simulation of its own recipe is to come to. */
  readonly measured: { readonly steps: number; readonly seconds: number };
}

const FEWEST = 5;

/**
 * One process whose engine and trainer share what they run on, from steps.jsonl, events.jsonl and verdicts.jsonl of its
 * folder. Throws HONE_ERR_DATA for a run of fewer than five steps, and what reading those files throws.
 */
export async function fitMachine(dir: string): Promise<FittedMachine> {
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
  const domains = workloads(groups, (domain) => verifyTime(records, verifiers.get(domain)), promptTokens);
  const machine = sharedMachine(dir, recipe, records, domains);
  const beside = (domain: DomainName) => ({ promptTokens, verify: domains[domain]!.verify.mean });
  const last = records.at(-1)!;
  return {
    machine,
    outcomes: (seed) => recordedOutcomes(groups, seed, beside),
    measured: { steps: last.step, seconds: last.metrics["run/elapsed"]! },
  };
}

function sharedMachine(
  dir: string,
  recipe: Recipe,
  records: readonly StepRecord[],
  domains: Record<DomainName, Workload>,
): Machine {
  const { maxRunning, pages, pageTokens } = recipe.engine;
  const speed = speedDuringStep(records);
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
 * Tokens of a step = p (seconds without training) + q (seconds of training): what an engine gets done while a step
 * trains, beside what it gets done otherwise.
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

type Metrics = Pick<StepRecord, "metrics">;

const PARTS = ["starting", "gradients", "packing", "forward", "backward", "optimizer", "publishing"];
const trainSeconds = ({ metrics }: Metrics): number =>
  PARTS.reduce((sum, part) => sum + (metrics[`time/${part}`] ?? 0), 0);
const betweenSeconds = ({ metrics }: Metrics): number =>
  metrics["time/step"]! - metrics["time/waiting"]! - trainSeconds({ metrics });
const packedTokens = ({ metrics }: Metrics): number =>
  metrics["trained/tokens"]! / metrics["packing/counted"]!;
const generated = (metrics: StepRecord["metrics"]): number =>
  metrics["speed/generated"]! * metrics["time/step"]!;

/** Over the steps that have the metric. */
function mean(records: readonly Metrics[], name: string): number {
  return average(records.flatMap(({ metrics }) => metrics[name] ?? []));
}

const average = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** What a summary says of the groups of each domain. */
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

/** From calls and their seconds; the spread from the last median and 95th percentile. */
function verifyTime(records: readonly Metrics[], verifier: string | undefined): Spread {
  const sum = (name: string) => records.reduce((all, { metrics }) => all + (metrics[name] ?? 0), 0);
  const calls = sum(`verifier/calls/${verifier}`);
  if (verifier === undefined || calls === 0) return { mean: 1e-6, cv: 0 };
  const { metrics } = records.at(-1)!;
  const [middle = 1, high = 1] = [
    metrics[`verifier/p50-ms/${verifier}`],
    metrics[`verifier/p95-ms/${verifier}`],
  ];
  const deviation = Math.max(0, Math.log(high / middle)) / 1.645;
  const seconds = Math.max(1e-6, sum(`verifier/seconds/${verifier}`) / calls);
  return { mean: seconds, cv: Math.sqrt(Math.expm1(Math.min(4, deviation ** 2))) };
}
