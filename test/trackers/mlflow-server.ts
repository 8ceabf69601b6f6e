// A stand-in for an MLflow tracking server, written from the REST reference alone: it refuses every field, key and size
// that the reference lacks, keeps every point, and shares no code with the tracker.
import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyOf } from "./fixtures.ts";

interface Point {
  readonly key: string;
  readonly value: number;
  readonly timestamp: number;
  readonly step: number;
}

interface Run {
  readonly id: string;
  readonly experiment: string;
  name: string;
  status: string;
  startTime: number;
  endTime: number | undefined;
  readonly tags: Map<string, string>;
  readonly params: Map<string, string>;
  readonly points: Point[];
  readonly artifacts: Map<string, string>;
}

class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const invalid = (message: string) => new Refusal(400, "INVALID_PARAMETER_VALUE", message);
const missing = (what: string) => new Refusal(404, "RESOURCE_DOES_NOT_EXIST", `no ${what}`);

/** The fields of each request: name to type, with "!" if the field is required. */
const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "experiments/create": { name: "string!", artifact_location: "string", tags: "object" },
  "runs/create": {
    experiment_id: "string!",
    run_name: "string",
    start_time: "number",
    user_id: "string",
    tags: "object",
  },
  "runs/search": {
    experiment_ids: "object!",
    filter: "string",
    max_results: "number",
    run_view_type: "string",
    order_by: "object",
    page_token: "string",
  },
  "runs/update": { run_id: "string!", status: "string", end_time: "number", run_name: "string" },
  "runs/log-batch": { run_id: "string!", metrics: "object", params: "object", tags: "object" },
};
const STATUSES = ["RUNNING", "SCHEDULED", "FINISHED", "FAILED", "KILLED"];
const KEY = /^[\w\-. :/]{1,250}$/;

function expectFields(path: string, body: Record<string, unknown>): void {
  const known = FIELDS[path];
  if (known === undefined) throw new Refusal(404, "ENDPOINT_NOT_FOUND", path);
  for (const [name, value] of Object.entries(body)) {
    const type = known[name]?.replace("!", "");
    if (type === undefined) throw invalid(`${path} has no field ${name}`);
    if (typeof value !== type) throw invalid(`${name} is no ${type}`);
  }
  for (const [name, type] of Object.entries(known))
    if (type.endsWith("!") && body[name] === undefined) throw invalid(`${path} needs ${name}`);
}

export class MlflowServer {
  readonly experiments = new Map<string, string>();
  readonly runs: Run[] = [];
  readonly authorizations = new Set<string | undefined>();
  batches = 0;
  /** The location of a run's artifacts; the proxy serves only addresses of this form. */
  artifactRoot = "mlflow-artifacts:/1";

  readonly answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await bodyOf(request);
    this.authorizations.add(request.headers.authorization);
    try {
      const result = this.#handle(request, text);
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(result));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const body = JSON.stringify({ error_code: error.code, message: error.message });
      response.writeHead(error.status, { "content-type": "application/json" }).end(body);
    }
  };

  #handle(request: IncomingMessage, text: string): unknown {
    const url = new URL(request.url!, "http://mlflow");
    const path = /^\/api\/2\.0\/mlflow\/(.+)$/.exec(url.pathname)?.[1];
    const [, file] = /^\/api\/2\.0\/mlflow-artifacts\/artifacts\/1\/(.+)$/.exec(url.pathname) ?? [];
    if (file !== undefined && request.method === "PUT") return this.#keep(file, text);
    if (path === undefined) throw new Refusal(404, "ENDPOINT_NOT_FOUND", url.pathname);
    if (request.method === "GET") return this.#get(path, url.searchParams);
    if (request.headers["content-type"] !== "application/json") throw invalid("not JSON");
    if (Buffer.byteLength(text) > 1 << 20) throw invalid("more than 1 MB");
    const body = JSON.parse(text) as Record<string, never>;
    expectFields(path, body);
    return this.#post(path, body);
  }

  #keep(file: string, text: string): unknown {
    const [, id, path] = /^(\w+)\/artifacts\/(.+)$/.exec(file) ?? [];
    this.#run(id ?? null).artifacts.set(path!, text);
    return {};
  }

  #get(path: string, asked: URLSearchParams): unknown {
    if (path === "experiments/get-by-name") {
      const id = this.experiments.get(asked.get("experiment_name") ?? "");
      if (id === undefined) throw missing("experiment");
      return {
        experiment: { experiment_id: id, name: asked.get("experiment_name"), lifecycle_stage: "active" },
      };
    }
    if (path !== "runs/get") throw new Refusal(404, "ENDPOINT_NOT_FOUND", path);
    return { run: this.#shown(this.#run(asked.get("run_id"))) };
  }

  #post(path: string, body: Record<string, never>): unknown {
    if (path === "experiments/create") {
      if (this.experiments.has(body["name"]!))
        throw new Refusal(400, "RESOURCE_ALREADY_EXISTS", body["name"]!);
      this.experiments.set(body["name"]!, String(this.experiments.size + 1));
      return { experiment_id: String(this.experiments.size) };
    }
    if (path === "runs/create") return this.#create(body);
    if (path === "runs/search") return this.#search(body);
    const run = this.#run(body["run_id"] ?? null);
    if (path === "runs/log-batch") return this.#log(run, body);
    if (body["status"] !== undefined && !STATUSES.includes(body["status"]))
      throw invalid(`status ${body["status"]}`);
    Object.assign(run, { status: body["status"] ?? run.status, endTime: body["end_time"] });
    return { run_info: shown(run).info };
  }

  #create({ experiment_id, run_name, start_time, tags = [] as never }: Record<string, never>): unknown {
    if (![...this.experiments.values()].includes(experiment_id!)) throw missing("experiment");
    const run: Run = {
      id: `run${this.runs.length + 1}`,
      experiment: experiment_id!,
      name: run_name!,
      status: "RUNNING",
      startTime: start_time!,
      endTime: undefined,
      tags: new Map((tags as { key: string; value: string }[]).map(({ key, value }) => [key, value])),
      params: new Map(),
      points: [],
      artifacts: new Map(),
    };
    this.runs.push(run);
    return { run: shown(run) };
  }

  /** Finds runs; the only filter it supports compares one tag. */
  #search({ experiment_ids, filter }: Record<string, never>): unknown {
    const asked = /^tags\."([^"]+)" = '([^']*)'$/.exec(filter!);
    if (asked === null) throw invalid(`filter ${String(filter)}`);
    const found = this.runs.filter(
      ({ experiment, tags }) =>
        (experiment_ids as unknown as string[]).includes(experiment) && tags.get(asked[1]!) === asked[2],
    );
    return found.length === 0 ? {} : { runs: found.map(shown) };
  }

  #log(run: Run, body: Record<string, never>): unknown {
    const {
      metrics = [],
      params = [],
      tags = [],
    } = body as {
      metrics?: Point[];
      tags?: { key: string; value: string }[];
      params?: { key: string; value: string }[];
    };
    if (metrics.length > 1000 || params.length > 100 || metrics.length + params.length > 1000)
      throw invalid(`${metrics.length} metrics and ${params.length} params in one request`);
    for (const { key, value, timestamp, step, ...rest } of metrics) {
      if (Object.keys(rest).length > 0 || !KEY.test(key)) throw invalid(`metric ${key}`);
      if (typeof value !== "number" || !Number.isInteger(timestamp) || !Number.isInteger(step))
        throw invalid(`point of ${key}`);
    }
    for (const { key, value } of params) {
      if (!KEY.test(key) || typeof value !== "string" || value.length > 500) throw invalid(`param ${key}`);
      if ((run.params.get(key) ?? value) !== value)
        throw invalid(`param ${key} is set and cannot be changed`);
    }
    for (const { key, value } of tags) {
      if (!KEY.test(key) || typeof value !== "string" || value.length > 5000) throw invalid(`tag ${key}`);
      run.tags.set(key, value);
    }
    for (const { key, value } of params) run.params.set(key, value);
    run.points.push(...metrics);
    this.batches += 1;
    return {};
  }

  #shown(run: Run) {
    const { info, data } = shown(run);
    return { info: { ...info, artifact_uri: `${this.artifactRoot}/${run.id}/artifacts` }, data };
  }

  #run(id: string | null): Run {
    const run = this.runs.find((one) => one.id === id);
    if (run === undefined) throw missing("run");
    return run;
  }
}

function shown(run: Run) {
  const latest = new Map<string, Point>();
  for (const point of run.points) {
    const before = latest.get(point.key);
    if (before === undefined || point.step >= before.step) latest.set(point.key, point);
  }
  return {
    info: {
      run_id: run.id,
      run_name: run.name,
      experiment_id: run.experiment,
      status: run.status,
      lifecycle_stage: "active",
    },
    data: {
      metrics: [...latest.values()],
      params: [...run.params].map(([key, value]) => ({ key, value })),
      tags: [...run.tags].map(([key, value]) => ({ key, value })),
    },
  };
}
