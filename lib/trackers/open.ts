import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Writable } from "node:stream";
import { HoneError } from "../errors.ts";
import { clearLeft, readJson, type Sink, writeWhole } from "../metrics/index.ts";
import { Delivery, type DeliveryOptions, TRACKERS_FOLDER } from "./delivery.ts";
import { JsonlTracker, STDOUT } from "./jsonl.ts";
import { MlflowTracker, mlflowHeaders } from "./mlflow.ts";
import { OtlpTracker, otlpHeaders } from "./otlp.ts";
import { PrometheusEndpoint } from "./prometheus-endpoint.ts";
import type { TrackedRun, Tracker } from "./tracker.ts";
import { WandbOfflineRun } from "./wandb.ts";

/** A tracker in a recipe, see lib/config/trackers.ts. */
export type TrackerChoice =
  | {
      readonly kind: "mlflow";
      readonly name?: string | undefined;
      readonly url?: string | undefined;
      readonly experiment: string;
      readonly completions?: number | undefined;
    }
  | {
      readonly kind: "otlp";
      readonly name?: string | undefined;
      readonly url?: string | undefined;
      readonly metrics: boolean;
      readonly traces: boolean;
    }
  | {
      readonly kind: "wandb";
      readonly project: string;
      readonly entity?: string | undefined;
      readonly completions?: number | undefined;
    }
  | { readonly kind: "prometheus"; readonly host: string; readonly port: number }
  | { readonly kind: "jsonl"; readonly name?: string | undefined; readonly path: string };

/** The run as trackers know it, kept in its folder. */
interface Identity {
  readonly id: string;
  readonly createdAt: number;
  readonly sessions: number;
}

export interface TrackedFolder {
  readonly run: TrackedRun;
  readonly sitting: number;
  readonly createdAt: number;
}

/**
 * Records that the run starts or resumes. @param recipe with its defaults. Throws HONE_ERR_IO,
 * HONE_ERR_FORMAT.
 */
export function beginSession(
  dir: string,
  recipe: { readonly name: string; readonly seed: number },
): TrackedFolder {
  const before = readIdentity(dir);
  const identity: Identity = {
    id: before?.id ?? randomBytes(16).toString("hex"),
    createdAt: before?.createdAt ?? Date.now(),
    sessions: (before?.sessions ?? 0) + 1,
  };
  writeWhole(identityPath(dir), `${JSON.stringify(identity)}\n`);
  clearLeft(join(dir, TRACKERS_FOLDER));
  return tracked(dir, recipe, identity);
}

/** The run of a folder, which must not be running; undefined if it has no tracker state. */
export function trackedFolder(
  dir: string,
  recipe: { readonly name: string; readonly seed: number },
): TrackedFolder | undefined {
  const identity = readIdentity(dir);
  return identity && tracked(dir, recipe, identity);
}

function tracked(
  dir: string,
  recipe: { readonly name: string; readonly seed: number },
  { id, createdAt, sessions }: Identity,
): TrackedFolder {
  const plain: unknown = JSON.parse(JSON.stringify(recipe));
  const run = { id, name: recipe.name, seed: recipe.seed, recipe: plain, dir: resolve(dir) };
  return { run, sitting: sessions, createdAt };
}

const identityPath = (dir: string): string => join(dir, TRACKERS_FOLDER, ".run.json");

const readIdentity = (dir: string): Identity | undefined =>
  existsSync(identityPath(dir)) ? (readJson(identityPath(dir)) as Identity) : undefined;

export interface TrackerSurroundings {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Writable;
}

const HERE: TrackerSurroundings = { env: process.env, stdout: process.stdout };

/** Creates a sending tracker; undefined for a choice that writes locally. Throws HONE_ERR_CONFIG if its server is not set. */
export function trackerOf(choice: TrackerChoice, { env, stdout } = HERE): Tracker | undefined {
  switch (choice.kind) {
    case "mlflow": {
      const url = choice.url ?? serverOf(env, "MLFLOW_TRACKING_URI", choice.kind);
      return new MlflowTracker({ ...choice, url, headers: mlflowHeaders(env) }, choice.name);
    }
    case "otlp": {
      const url = choice.url ?? serverOf(env, "OTEL_EXPORTER_OTLP_ENDPOINT", choice.kind);
      return new OtlpTracker({ ...choice, url, headers: otlpHeaders(env) }, choice.name);
    }
    case "jsonl":
      return new JsonlTracker(choice.path, choice.path === STDOUT ? stdout : undefined, choice.name);
    default:
      return undefined;
  }
}

function serverOf(env: NodeJS.ProcessEnv, variable: string, kind: string): string {
  const url = env[variable];
  // does not print the variable's value: it may contain a password
  const parsed = url !== undefined && /^https?:/.test(url) && URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && parsed.username === "" && parsed.password === "") return url!;
  const found =
    url === undefined ? "is not set" : "is no http:// or https:// address without user and password";
  throw new HoneError("HONE_ERR_CONFIG", `trackers: ${kind} has no url, and ${variable} ${found}`, {
    hint: `Say where the server is: url in the recipe, or ${variable}=http://host:port in the environment.`,
  });
}

/** True if a user's sink sends in the background instead of writing synchronously. */
export const sends = (sink: Sink | Tracker): sink is Tracker => "send" in sink;

/**
 * Sinks of a run for the trackers of its recipe and those of its entry script; first sends entries left by an earlier
 * session. Throws HONE_ERR_CONFIG (two with one name, a missing server address), HONE_ERR_IO.
 */
export function openTrackers(
  choices: readonly TrackerChoice[],
  own: readonly Tracker[],
  folder: TrackedFolder,
  options: Omit<DeliveryOptions, "run" | "sitting">,
  surroundings = HERE,
): Sink[] {
  const sinks: Sink[] = [];
  const deliver = (tracker: Tracker) => {
    if (!/^[\w-]{1,64}$/.test(tracker.name) || sinks.some(({ name }) => name === tracker.name))
      throw new HoneError(
        "HONE_ERR_CONFIG",
        `a tracker is called ${JSON.stringify(tracker.name)}: every tracker needs a unique name of letters, digits, "_" and "-"`,
      );
    sinks.push(new Delivery(tracker, { ...options, ...folder }));
  };
  try {
    for (const choice of choices) {
      const tracker = trackerOf(choice, surroundings);
      if (tracker !== undefined) deliver(tracker);
      else if (choice.kind === "wandb") sinks.push(new WandbOfflineRun({ ...choice, ...folder }));
      else if (choice.kind === "prometheus")
        sinks.push(
          new PrometheusEndpoint({ ...choice, labels: { run: folder.run.name }, warn: options.warn }),
        );
    }
    for (const tracker of own) deliver(tracker);
  } catch (error) {
    for (const sink of sinks) void sink.close();
    throw error;
  }
  return sinks;
}
