import { z } from "zod";
import { count } from "./numbers.ts";

const PORT = 65_535;

/** run.json records the recipe, so credentials come from the environment alone. */
function withoutCredentials(url: string): boolean {
  const { username, password, search, hash } = new URL(url);
  return username === "" && password === "" && search === "" && hash === "";
}

const server = () =>
  z
    .url({ protocol: /^https?$/ })
    .refine(
      withoutCredentials,
      "it must not contain user, password or query, since run.json keeps it; credentials come from the environment (docs/how-to/trackers.md)",
    );

const name = z
  .string()
  .regex(
    /^[a-z][a-z0-9-]{0,31}$/,
    "small letters, digits and hyphens, 32 at most: it names a file of the run folder",
  )
  .optional();

/** Interval in steps of a table of completions with prompts and texts; default: none. */
const completions = count().optional();

const mlflowSchema = z.strictObject({
  kind: z.literal("mlflow"),
  name,
  /** Address of the tracking server; default: MLFLOW_TRACKING_URI. */
  url: server().optional(),
  experiment: z.string().min(1).max(256).default("hone"),
  completions,
});

const otlpSchema = z.strictObject({
  kind: z.literal("otlp"),
  name,
  /** Address of the collector, without /v1/traces; default: OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: server().optional(),
  metrics: z.boolean().default(true),
  traces: z.boolean().default(true),
});

const wandbSchema = z.strictObject({
  kind: z.literal("wandb"),
  project: z.string().min(1).max(128).default("hone"),
  entity: z.string().min(1).max(128).optional(),
  completions,
});

const prometheusSchema = z.strictObject({
  kind: z.literal("prometheus"),
  host: z.string().min(1).default("127.0.0.1"),
  /** Port; 0: any free port, which a warning names. */
  port: z.int().min(0).max(PORT).default(9464),
});

const jsonlSchema = z.strictObject({
  kind: z.literal("jsonl"),
  name,
  /** A file that grows, relative to the working folder; "-" is standard output. */
  path: z.string().min(1),
});

/** Trackers of a run. */
export const trackersSchema = z
  .array(z.discriminatedUnion("kind", [mlflowSchema, otlpSchema, wandbSchema, prometheusSchema, jsonlSchema]))
  .refine((list) => {
    const names = list.map((tracker) => ("name" in tracker ? tracker.name : undefined) ?? tracker.kind);
    return new Set(names).size === names.length;
  }, "two trackers have one name: give one of them a `name`")
  .default([]);

export type TrackerConfig = z.output<typeof trackersSchema>[number];
