import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { readJson, readRunManifest, wholeLines } from "../metrics/index.ts";
import { lockFolder } from "../shared/files/folder-lock.ts";
import {
  Delivery,
  type DeliveryState,
  STDOUT,
  TRACKERS_FOLDER,
  type TrackerChoice,
  trackedFolder,
  trackerOf,
} from "../trackers/index.ts";
import { type Demand, expectTrusted, readFrom, type Trust } from "../trust.ts";

export interface TrackerRow extends DeliveryState {
  readonly tracker: string;
  /** Why some or all entries were not sent. */
  readonly note?: string | undefined;
}

/** Fields that are read from the folder's recipe. */
interface RecordedRecipe {
  readonly name: string;
  readonly seed: number;
  /** Absent in folders of earlier versions. */
  readonly trackers?: readonly TrackerChoice[];
}

export interface SendOptions {
  /** Signal for all trackers together. */
  readonly signal: AbortSignal;
  /** Time limit of one attempt, in milliseconds. */
  readonly timeoutMs?: number;
  /** What the folder's record may make this process execute. Default: nothing. */
  readonly trust?: Trust | undefined;
}

/** Progress of each tracker of a run folder, running or not. Throws HONE_ERR_IO, HONE_ERR_FORMAT. */
export function trackerRows(dir: string): TrackerRow[] {
  const folder = join(dir, TRACKERS_FOLDER);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).flatMap((file) => /^([\w-]+)\.jsonl$/.exec(file)?.[1] ?? []);
  return names.sort().map((tracker) => {
    const cursor = join(folder, `${tracker}.json`);
    const { offset, sent, refused, failures } = (
      existsSync(cursor) ? readJson(cursor) : { offset: 0, sent: 0, refused: 0, failures: 0 }
    ) as DeliveryState & { offset: number };
    let bytes = 0;
    let waiting = 0;
    for (const line of wholeLines(join(folder, `${tracker}.jsonl`))) {
      if (bytes >= offset) waiting += 1;
      bytes += Buffer.byteLength(line) + 1;
    }
    return { tracker, sent, waiting, refused, failures };
  });
}

/** Servers and files that trackers name; a tracker that leaves its server to the environment names none. */
export function trackerDemands(trackers: readonly TrackerChoice[]): Demand[] {
  return trackers.flatMap((tracker, i): Demand[] => {
    const field = `trackers.${i}`;
    if (tracker.kind === "jsonl")
      return tracker.path === STDOUT ? [] : [{ field, kind: "file", path: tracker.path }];
    if (tracker.kind !== "mlflow" && tracker.kind !== "otlp") return [];
    return tracker.url === undefined
      ? []
      : [{ field, kind: "server", url: tracker.url, keyEnv: KEYS[tracker.kind] }];
  });
}

/** Environment variable that holds the key of a tracker's service, by kind of tracker. */
const KEYS = { mlflow: "MLFLOW_TRACKING_TOKEN", otlp: "OTEL_EXPORTER_OTLP_HEADERS" } as const;

/**
 * Sends the waiting entries of a run that is not running. A tracker that fails, or that only the run's entry script
 * can create, keeps its entries, and its row gives the reason. Throws HONE_ERR_TRUST for servers and files that the
 * record names and `trust` does not allow, since they would receive the keys of this process's environment;
 * HONE_ERR_USAGE if the run is running; HONE_ERR_IO, HONE_ERR_FORMAT.
 */
export async function sendWaiting(
  dir: string,
  { signal, timeoutMs, trust }: SendOptions,
): Promise<TrackerRow[]> {
  const recipe = readRunManifest(dir).config as RecordedRecipe;
  const folder = trackedFolder(dir, recipe);
  if (folder === undefined) return [];
  expectTrusted([
    { record: readFrom({}, dir, { trust }), demands: () => trackerDemands(recipe.trackers ?? []) },
  ]);
  using _lock = await lockFolder(dir);
  const notes = new Map<string, string>();
  for (const { tracker: name, waiting } of trackerRows(dir)) {
    if (waiting === 0) continue;
    const choice = recipe.trackers?.find(
      (one) => ("name" in one ? one.name : undefined) ?? one.kind === name,
    );
    const tracker = choice && trackerOf(choice);
    if (tracker === undefined || tracker.name !== name) {
      notes.set(name, "it is not a tracker of the recipe: run its entry script again (--resume) to send");
      continue;
    }
    const warn = (message: string) => void (message.includes("hone track send") || notes.set(name, message));
    const delivery = new Delivery(tracker, {
      ...folder,
      warn,
      ...(timeoutMs !== undefined && { timeoutMs }),
    });
    await delivery.drain(signal);
    await delivery.close(0);
  }
  return trackerRows(dir).map((row) => ({
    ...row,
    ...(notes.has(row.tracker) && { note: notes.get(row.tracker) }),
  }));
}
