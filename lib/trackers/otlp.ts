import { createHash } from "node:crypto";
import { stagesOf } from "../metrics/index.ts";
import { ask } from "./http.ts";
import {
  NotTaken,
  type Sending,
  type Tracked,
  type TrackedRollout,
  type TrackedStep,
  type Tracker,
} from "./tracker.ts";

const SPAN_KIND_INTERNAL = 1;
const STATUS_OK = 1;

export interface OtlpOptions {
  /** Address of the collector, without /v1/traces: "http://127.0.0.1:4318". */
  readonly url: string;
  readonly metrics: boolean;
  readonly traces: boolean;
  /** Headers, which come from the environment alone. */
  readonly headers: Readonly<Record<string, string>>;
}

type Attribute = { key: string; value: object };

/**
 * OTLP over HTTP with JSON bodies: every metric is a gauge; a step is a span with one child span per stage, and the
 * history of one completion until its step is a separate trace, linked to the step's. Identifiers derive from run,
 * session and step, so that a batch sent twice gives the same spans, which a store can deduplicate.
 * Source: OpenTelemetry Protocol 1.x, "OTLP/HTTP"; opentelemetry-proto v1 (JSON encoding).
 */
export class OtlpTracker implements Tracker {
  readonly name: string;
  readonly #options: OtlpOptions;

  constructor(options: OtlpOptions, name = "otlp") {
    this.name = name;
    this.#options = options;
  }

  async send(entries: readonly Tracked[], sending: Sending): Promise<undefined> {
    const steps = entries.filter((entry): entry is TrackedStep => entry.kind === "step");
    if (steps.length === 0) return undefined;
    const { metrics, traces } = this.#options;
    if (metrics) await this.#post("metrics", metricsBody(steps, sending), sending);
    if (traces) await this.#post("traces", tracesBody(steps, sending), sending);
    return undefined;
  }

  async #post(signalName: "metrics" | "traces", json: object, { signal }: Sending): Promise<void> {
    const { url, headers } = this.#options;
    const answer = await ask({ url: `${url.replace(/\/+$/, "")}/v1/${signalName}`, headers, json, signal });
    const partial = (answer as { partialSuccess?: Record<string, unknown> } | undefined)?.partialSuccess;
    const rejected = Number(partial?.["rejectedSpans"] ?? partial?.["rejectedDataPoints"] ?? 0);
    // do not resend: the collector would reject the same entries again
    if (rejected > 0)
      throw new NotTaken(`rejected ${rejected}: ${String(partial?.["errorMessage"])}`, { refused: true });
  }
}

/** ExportMetricsServiceRequest. */
export function metricsBody(steps: readonly TrackedStep[], sending: Pick<Sending, "run">): object {
  const points = new Map<string, object[]>();
  for (const { step, at, metrics } of steps) {
    for (const [name, value] of [["step", step] as const, ...Object.entries(metrics)]) {
      const point = { timeUnixNano: nanos(at), asDouble: value, attributes: [] };
      points.set(name, [...(points.get(name) ?? []), point]);
    }
  }
  const metrics = [...points].map(([name, dataPoints]) => ({ name: `hone.${name}`, gauge: { dataPoints } }));
  return { resourceMetrics: [{ resource: resourceOf(sending), scopeMetrics: [{ scope: SCOPE, metrics }] }] };
}

/** ExportTraceServiceRequest. */
export function tracesBody(steps: readonly TrackedStep[], sending: Pick<Sending, "run">): object {
  const spans = steps.flatMap((entry) => [...stepSpans(entry, sending), ...rolloutSpans(entry, sending)]);
  return { resourceSpans: [{ resource: resourceOf(sending), scopeSpans: [{ scope: SCOPE, spans }] }] };
}

const SCOPE = { name: "hone" };

function resourceOf({ run }: Pick<Sending, "run">): object {
  return {
    attributes: attributes({
      "service.name": "hone",
      "service.instance.id": run.id,
      "hone.run.name": run.name,
    }),
  };
}

/**
 * The step, and its stages laid out in sequence from its start, forward and backward as sums over the micro-batches.
 * Unattributed time has no span: it is not contiguous.
 */
function stepSpans(entry: TrackedStep, { run }: Pick<Sending, "run">): object[] {
  const { step, version, at, sitting, metrics } = entry;
  const of = [run.id, sitting, step] as const;
  const traceId = digest(32, ...of, "trace");
  const spanId = digest(16, ...of, "step");
  const begun = beginningOf(entry);
  const facts = attributes({ "hone.step": step, "hone.version": version, "hone.sitting": sitting });
  const parts: object[] = [];
  let from = begun;
  for (const { name, part, seconds } of stagesOf(metrics)) {
    if (part === "rest" || seconds === 0) continue;
    const until = from + 1000 * seconds;
    const ids = { traceId, spanId: digest(16, ...of, name), parentSpanId: spanId };
    parts.push(span(ids, name, from, until));
    from = until;
  }
  return [span({ traceId, spanId }, "step", begun, at, facts), ...parts];
}

/** Spans of one completion: generated, judged and waiting, trained in the step. */
function rolloutSpans(entry: TrackedStep, { run }: Pick<Sending, "run">): object[] {
  const { rollout, step, at, sitting, metrics } = entry;
  if (rollout === undefined) return [];
  const of = [run.id, sitting, step, "rollout"] as const;
  const traceId = digest(32, ...of);
  const spanId = digest(16, ...of);
  const before = stagesOf(metrics).filter(({ part }) => part === "before");
  const taken = beginningOf(entry) + 1000 * before.reduce((sum, { seconds }) => sum + seconds, 0);
  const waitEnds = Math.max(rollout.generatedAt, taken);
  const stepOf = [run.id, sitting, step] as const;
  const link = { traceId: digest(32, ...stepOf, "trace"), spanId: digest(16, ...stepOf, "step") };
  const child = (name: string, from: number, until: number, facts?: Attribute[]) =>
    span({ traceId, spanId: digest(16, ...of, name), parentSpanId: spanId }, name, from, until, facts);
  return [
    {
      ...span({ traceId, spanId }, "rollout", rollout.submittedAt, at, rolloutFacts(rollout)),
      links: [link],
    },
    child(
      "generate",
      rollout.submittedAt,
      rollout.generatedAt,
      attributes({ "hone.tokens": rollout.tokens }),
    ),
    child("verify and wait", rollout.generatedAt, waitEnds),
    ...(rollout.dropped === undefined ? [child("train", waitEnds, at)] : []),
  ];
}

function rolloutFacts(rollout: TrackedRollout): Attribute[] {
  const { verdict, versions } = rollout;
  return attributes({
    "hone.domain": rollout.domain,
    "hone.problem": rollout.problem,
    "hone.family": rollout.family,
    "hone.attempt": rollout.attempt,
    "hone.prompt_tokens": rollout.promptTokens,
    "hone.tokens": rollout.tokens,
    "hone.finish": rollout.finish,
    "hone.verdict": verdict.status,
    "hone.score": verdict.score,
    "hone.reason": verdict.reason,
    "hone.reward": rollout.reward,
    "hone.advantage": rollout.advantage,
    "hone.versions": versions.filter((_, i) => i % 2 === 1).join(" "),
    ...(rollout.dropped !== undefined && { "hone.dropped": rollout.dropped }),
  });
}

function span(ids: object, name: string, from: number, until: number, facts: Attribute[] = []): object {
  const times = { startTimeUnixNano: nanos(from), endTimeUnixNano: nanos(Math.max(from, until)) };
  return { ...ids, name, kind: SPAN_KIND_INTERNAL, ...times, attributes: facts, status: { code: STATUS_OK } };
}

/** Integers as intValue, which JSON represents as text. */
function attributes(facts: Readonly<Record<string, string | number>>): Attribute[] {
  return Object.entries(facts).map(([key, value]) => {
    if (typeof value === "string") return { key, value: { stringValue: wellFormed(value) } };
    return { key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } };
  });
}

/** A lone surrogate has no bytes in UTF-8, and a collector refuses the whole request for one. */
const wellFormed = (text: string): string => Buffer.from(text).toString();

/** Start of a step: the end of the previous one, so work between the two is part of the later one. Milliseconds since 1970. */
const beginningOf = ({ at, metrics }: TrackedStep): number => at - 1000 * (metrics["time/step"] ?? 0);

/** Milliseconds as decimal nanoseconds: a double would lose digits. */
function nanos(ms: number): string {
  const whole = Math.floor(ms);
  return String(BigInt(whole) * 1_000_000n + BigInt(Math.round((ms - whole) * 1e6)));
}

const digest = (digits: 16 | 32, ...of: readonly (string | number)[]): string =>
  createHash("sha256").update(of.join("\n")).digest("hex").slice(0, digits);

/** OTEL_EXPORTER_OTLP_HEADERS: "key=value,key=value", values percent-encoded. Source: OpenTelemetry, OTLP exporter configuration. */
export function otlpHeaders(env: NodeJS.ProcessEnv): Record<string, string> {
  const pairs = (env["OTEL_EXPORTER_OTLP_HEADERS"] ?? "").split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(pairs);
}
