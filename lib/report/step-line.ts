import { bottleneck } from "../metrics/index.ts";
import type { StepRecord } from "../records.ts";

/** Key in the printed line, metric, digits after the point. */
const FIELDS: readonly (readonly [string, string, number])[] = [
  ["score", "score/mean", 4],
  ["reward", "reward/mean", 4],
  ["success", "success", 4],
  ["tokens", "length/mean", 2],
  ["truncated", "truncated", 4],
  ["entropy", "entropy/mean", 4],
  ["kept", "groups/kept", 3],
  ["clipped", "clip/sequences", 4],
  ["lag", "lag/mean", 2],
  ["grad", "grad/norm", 4],
  ["tok_s", "speed/generated", 0],
  ["seconds", "time/step", 3],
];

/** One step as `key=value` pairs, readable and fit for grep; a metric that is absent has no key. */
export function stepLine(record: StepRecord, domains: readonly string[]): string {
  const { step, version, metrics } = record;
  const fields = domains.map((d) => [`score.${d}`, `score/mean/${d}`, 3] as const);
  const pairs = [...FIELDS, ...fields]
    .filter(([, name]) => metrics[name] !== undefined)
    .map(([key, name, digits]) => `${key}=${metrics[name]!.toFixed(digits)}`);
  const busiest = bottleneck(metrics);
  if (busiest !== undefined) pairs.push(`busiest=${busiest}`);
  return [`step=${step}`, `version=${version}`, ...pairs].join(" ");
}
