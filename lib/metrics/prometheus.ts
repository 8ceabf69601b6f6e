import type { StepRecord } from "../records.ts";
import { writeWhole } from "./run-folder.ts";
import type { Sink } from "./sink.ts";

/**
 * A step in the Prometheus text format: each metric is a gauge `hone_<name>` with the given labels. Characters that
 * Prometheus does not allow in a name become "_"; if two names collide, the first is kept.
 * Source: Prometheus exposition formats, text-based, version 0.0.4.
 */
export function prometheusText(record: StepRecord, labels: Readonly<Record<string, string>> = {}): string {
  const suffix = labelText(labels);
  const gauges = new Map<string, number>([["hone_step", record.step]]);
  for (const [name, value] of Object.entries(record.metrics)) {
    const key = `hone_${name.replace(/[^a-zA-Z0-9_]/g, "_")}`;
    if (!gauges.has(key)) gauges.set(key, value);
  }
  return [...gauges].map(([key, value]) => `# TYPE ${key} gauge\n${key}${suffix} ${value}\n`).join("");
}

/** A number for Prometheus: what only grows is a counter. */
export interface Sample {
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Samples in the Prometheus text format, grouped by name. @param labels labels common to all samples */
export function samplesText(samples: readonly Sample[], labels: Readonly<Record<string, string>>): string {
  const names = [...new Set(samples.map(({ name }) => name))];
  return names
    .map((name) => {
      const all = samples.filter((sample) => sample.name === name);
      const lines = all.map((each) => `${name}${labelText({ ...labels, ...each.labels })} ${each.value}\n`);
      return `# HELP ${name} ${all[0]!.help}\n# TYPE ${name} ${all[0]!.type}\n${lines.join("")}`;
    })
    .join("");
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}="${escapeLabel(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** Keeps the last step in one file, replaced whole, for a textfile collector or a static HTTP server. */
export class PrometheusSink implements Sink {
  readonly name = "prometheus";
  readonly #path: string;
  readonly #labels: Readonly<Record<string, string>>;

  constructor(path: string, labels: Readonly<Record<string, string>> = {}) {
    this.#path = path;
    this.#labels = labels;
  }

  write(record: StepRecord): void {
    writeWhole(this.#path, prometheusText(record, this.#labels));
  }

  close(): void {}
}
