import { ask, notTaken, request } from "./http.ts";
import type { Tracked } from "./tracker.ts";

/** The tag by which the server's page recognises tables among artifacts, and one with the reason if there are none. */
const TABLES_TAG = "mlflow.loggedArtifacts";
const WHY_TAG = "hone.completions";
/** Most paths in that tag, whose limit is 5,000 characters; older tables stay among the artifacts. */
const MOST_TABLES = 50;
const LONGEST_WHY = 500;

/** A run on a server. */
interface Place {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly mlflowRun: string;
}

/**
 * Uploads tables of completions through the server's artifact proxy, in the format of MLflow's `log_table`. If the
 * server has none, or refuses them, records that in a tag of the run; metrics continue. Rejects if the request should
 * be retried later. Returns the paths of all tables, the newest last.
 * Source: MLflow, `mlflow-artifacts` endpoints and mlflow.log_table.
 */
export async function sendTables(
  place: Place,
  entries: readonly Tracked[],
  before: readonly string[] = [],
): Promise<readonly string[] | undefined> {
  const steps = entries.flatMap((one) => (one.kind === "step" && one.completions !== undefined ? [one] : []));
  if (steps.length === 0) return before.length === 0 ? undefined : before;
  const root = await artifactRoot(place);
  if (!root.startsWith("mlflow-artifacts:")) {
    await tag(
      place,
      WHY_TAG,
      `not sent: the artifacts of this run are at ${root}, not behind the server's proxy`,
    );
    return before;
  }
  const folder = root.replace(/^mlflow-artifacts:(?:\/\/[^/]*)?\/*/, "");
  const tables = [...before];
  for (const { step, completions } of steps) {
    const path = `completions/step-${String(step).padStart(6, "0")}.json`;
    const url = `${api(place)}-artifacts/artifacts/${folder}/${path}`;
    const answer = await request({ ...place, url, method: "PUT", json: completions });
    if (answer.status < 200 || answer.status >= 300) {
      await tag(place, WHY_TAG, `not sent: ${notTaken(answer).message}`);
      return before;
    }
    if (!tables.includes(path)) tables.push(path);
  }
  const shown = tables.slice(-MOST_TABLES);
  await tag(place, TABLES_TAG, JSON.stringify(shown.map((path) => ({ path, type: "table" }))));
  return shown;
}

async function artifactRoot(place: Place): Promise<string> {
  const url = `${api(place)}/runs/get?run_id=${encodeURIComponent(place.mlflowRun)}`;
  const answer = await request({ ...place, url, method: "GET" });
  if (answer.status !== 200) throw notTaken(answer);
  const { run } = answer.body as { run?: { info?: { artifact_uri?: string } } };
  return run?.info?.artifact_uri ?? "";
}

async function tag(place: Place, key: string, value: string): Promise<void> {
  const tags = [{ key, value: key === WHY_TAG ? value.slice(0, LONGEST_WHY) : value }];
  await ask({ ...place, url: `${api(place)}/runs/log-batch`, json: { run_id: place.mlflowRun, tags } });
}

const api = ({ url }: Place): string => `${url.replace(/\/+$/, "")}/api/2.0/mlflow`;
