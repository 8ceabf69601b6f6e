import type { ProblemSource, SourceOptions } from "../problem-source.ts";
import { aime } from "./aime.ts";
import { bfcl } from "./bfcl.ts";
import { DatasetSource } from "./dataset-source.ts";
import { gpqa } from "./gpqa.ts";
import { i3Logic } from "./i3-logic.ts";
import { ifEval, ifRlvr } from "./if-rlvr.ts";
import { liveCodeBench } from "./live-code-bench.ts";
import { mmluPro } from "./mmlu-pro.ts";
import { openReasonerZero } from "./open-reasoner-zero.ts";
import type { RowReader } from "./row-reader.ts";
import { type Admission, Sieve } from "./sieve.ts";
import { taco } from "./taco.ts";

/** Every published data set by the kind a recipe gives. A new one is a row here and in the recipe's schema. */
export const DATASETS = {
  "open-reasoner-zero": openReasonerZero,
  taco,
  "if-rlvr": ifRlvr,
  "i3-logic": i3Logic,
  bfcl,
  aime,
  gpqa,
  "mmlu-pro": mmluPro,
  "live-code-bench": liveCodeBench,
  ifeval: ifEval,
} as const;

export type DatasetKind = keyof typeof DATASETS;
type OptionsOf<R> = R extends RowReader<infer Options> ? Options : never;

/** A data set and how to read it, as a recipe says it. */
export type DatasetSpec = {
  readonly [K in DatasetKind]: { readonly kind: K } & OptionsOf<(typeof DATASETS)[K]>;
}[DatasetKind];

/** Short names for "kind:path". */
const ALIASES: Readonly<Record<string, DatasetKind>> = { orz: "open-reasoner-zero", lcb: "live-code-bench" };

/** The data set that "kind:path" names; undefined where the text before the first colon is no kind. */
export function parseDatasetSpec(text: string): DatasetSpec | undefined {
  const colon = text.indexOf(":");
  const name = text.slice(0, Math.max(0, colon));
  const kind = Object.hasOwn(ALIASES, name) ? ALIASES[name]! : name;
  const path = text.slice(colon + 1);
  return isDatasetKind(kind) && path !== "" ? { kind, path } : undefined;
}

export function isDatasetKind(name: string): name is DatasetKind {
  return Object.hasOwn(DATASETS, name);
}

/** Reads a data set into memory. Throws HONE_ERR_DATA when a file is missing or damaged, or no row is left. */
export function openDataset(
  spec: DatasetSpec,
  options: SourceOptions,
  admit?: Admission,
): Promise<ProblemSource> {
  return DatasetSource.load(spec.kind, DATASETS[spec.kind], spec, options, admit);
}

/** The rows of a data set one by one, and what became of the others, without keeping any. */
export function siftDataset(spec: DatasetSpec, admit?: Admission): Sieve {
  return new Sieve(spec.kind, DATASETS[spec.kind], spec, admit);
}
