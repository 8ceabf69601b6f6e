import { expect, test } from "vitest";
import { STEP_STAGES } from "../../lib/metrics/index.ts";
import type { TrackedRollout, TrackedStep } from "../../lib/trackers/index.ts";
import { metricsBody, OtlpTracker, otlpHeaders, tracesBody } from "../../lib/trackers/otlp.ts";
import { bodyOf, runIn, SwitchedServer, stepOf } from "./fixtures.ts";

const run = runIn("/runs/demo");
const signal = AbortSignal.timeout(60_000);
const rollout: TrackedRollout = {
  domain: "math",
  problem: 17,
  family: "chain",
  attempt: 0,
  submittedAt: 1_700_000_000_000,
  generatedAt: 1_700_000_000_800.25,
  promptTokens: 9,
  tokens: 31,
  finish: "eos",
  versions: [0, 1, 20, 2],
  verdict: { status: "correct", score: 1, reason: "equal \ud800" },
  reward: 0.75,
  advantage: -1.5,
};
const step: TrackedStep = {
  ...stepOf(2, {
    "score/mean": 0.5,
    "time/step": 1,
    "time/waiting": 0.25,
    "time/forward": 0.25,
    "time/backward": 0.375,
    "time/checkpointing": 0.125,
  }),
  rollout,
};

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly links?: { traceId: string; spanId: string }[];
  readonly attributes: { key: string; value: object }[];
}

const spansOf = (body: object) =>
  (body as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans[0]!.scopeSpans[0]!.spans;
const nano = (wholeMs: number) => `${wholeMs}000000`;
/** The time at which the second step ended. */
const end = 1_700_000_002_000;

test("a step is a span, its stages lie in it end to end, and a rollout's way is a trace that leads to it", () => {
  const spans = spansOf(tracesBody([step], { run }));
  const named = (name: string) => spans.find((span) => span.name === name)!;
  const times = (name: string) => [named(name).startTimeUnixNano, named(name).endTimeUnixNano];
  expect(times("step")).toEqual([nano(end - 1000), nano(end)]);
  expect(times("checkpointing")).toEqual([nano(end - 1000), nano(end - 875)]);
  expect(times("waiting")).toEqual([nano(end - 875), nano(end - 625)]);
  expect(times("forward")).toEqual([nano(end - 625), nano(end - 375)]);
  expect(times("backward")).toEqual([nano(end - 375), nano(end)]);
  for (const stage of ["waiting", "forward", "backward", "checkpointing"])
    expect([named(stage).traceId, named(stage).parentSpanId]).toEqual([
      named("step").traceId,
      named("step").spanId,
    ]);
  expect(spans.map(({ name }) => name)).not.toContain("packing");
  expect(times("rollout")).toEqual(["1700000000000000000", nano(end)]);
  expect(times("generate")).toEqual(["1700000000000000000", "1700000000800250000"]);
  expect(times("train")).toEqual([nano(end - 625), nano(end)]);
  const { links, traceId } = named("rollout");
  expect(links).toEqual([{ traceId: named("step").traceId, spanId: named("step").spanId }]);
  expect(traceId).not.toBe(named("step").traceId);
  for (const span of spans) {
    expect(span.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
  }
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  const facts = new Map(named("rollout").attributes.map(({ key, value }) => [key, value]));
  expect(facts.get("hone.tokens")).toEqual({ intValue: "31" });
  expect(facts.get("hone.advantage")).toEqual({ doubleValue: -1.5 });
  expect(facts.get("hone.versions")).toEqual({ stringValue: "1 2" });
  expect(facts.get("hone.reason")).toEqual({ stringValue: "equal \ufffd" });
});

test("every stage that a step can measure begins where the one before ended, the first where the step before did", () => {
  const lengths = STEP_STAGES.map((name, i) => [`time/${name}`, (i + 1) / 1000] as const);
  const total = lengths.reduce((sum, [, seconds]) => sum + seconds, 0);
  const whole = { ...stepOf(2, { ...Object.fromEntries(lengths), "time/step": total }), rollout };
  const spans = spansOf(tracesBody([whole], { run }));
  const begun = spans.findIndex(({ name }) => name === "step");
  const stages = STEP_STAGES.slice(0, -1); // time outside of all stages gets no span
  let from = end - Math.round(1000 * total);
  expect(spans[begun]).toMatchObject({ startTimeUnixNano: nano(from), endTimeUnixNano: nano(end) });
  for (const [i, name] of stages.entries()) {
    const span = spans[begun + 1 + i]!;
    const until = from + i + 1;
    expect([span.name, span.startTimeUnixNano, span.endTimeUnixNano]).toEqual([
      name,
      nano(from),
      nano(until),
    ]);
    from = until;
  }
  expect(from).toBe(end - STEP_STAGES.length);
  const train = spans.find(({ name }) => name === "train")!;
  const scored = spans.find(({ name }) => name === "reference")!;
  expect(train.startTimeUnixNano, "what comes after the wait for groups").toBe(scored.startTimeUnixNano);
});

test("identifiers follow from run, sitting and step: the same again for what is sent twice, others after a resume", () => {
  const ids = (of: TrackedStep) => spansOf(tracesBody([of], { run })).map(({ spanId }) => spanId);
  expect(ids(step)).toEqual(ids({ ...step }));
  const later = ids({ ...step, sitting: 2 });
  expect(ids(step).filter((id) => later.includes(id))).toEqual([]);
});

test("a rollout that was not trained on ends where it was dropped", () => {
  const dropped = { ...step, rollout: { ...rollout, dropped: "zero-advantage" } };
  const names = spansOf(tracesBody([dropped], { run })).map(({ name }) => name);
  expect(names).toContain("rollout");
  expect(names).not.toContain("train");
});

test("every metric is a gauge with a point a step", () => {
  const body = metricsBody([stepOf(1), stepOf(2)], { run }) as {
    resourceMetrics: { scopeMetrics: { metrics: { name: string; gauge: { dataPoints: object[] } }[] }[] }[];
  };
  const { metrics } = body.resourceMetrics[0]!.scopeMetrics[0]!;
  expect(metrics.map(({ name }) => name)).toEqual(["hone.step", "hone.score/mean"]);
  expect(metrics[1]!.gauge.dataPoints).toEqual([
    { timeUnixNano: "1700000001000000000", asDouble: 0.1, attributes: [] },
    { timeUnixNano: "1700000002000000000", asDouble: 0.2, attributes: [] },
  ]);
});

test("posts to the collector's two routes with its headers, and what it rejects in part is refused, not sent again", async () => {
  const seen: unknown[] = [];
  let answer = "{}";
  const server = await SwitchedServer.on(async (request, response) => {
    seen.push([
      request.url,
      request.headers["api-key"],
      Object.keys(JSON.parse(await bodyOf(request)) as object),
    ]);
    response.writeHead(200, { "content-type": "application/json" }).end(answer);
  });
  const headers = otlpHeaders({ OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%3Db, x=1" });
  const otlp = new OtlpTracker({ url: `${server.url}/`, metrics: true, traces: true, headers });
  await otlp.send([step, { kind: "end", at: 5, sitting: 1, state: "finished" }], {
    run,
    signal,
    memory: undefined,
  });
  expect(seen).toEqual([
    ["/v1/metrics", "a=b", ["resourceMetrics"]],
    ["/v1/traces", "a=b", ["resourceSpans"]],
  ]);
  answer = JSON.stringify({ partialSuccess: { rejectedDataPoints: "2", errorMessage: "too old" } });
  const sent = otlp.send([step], { run, signal, memory: undefined });
  await expect(sent).rejects.toMatchObject({ refused: true, message: "rejected 2: too old" });
  await otlp.send([{ kind: "end", at: 5, sitting: 1, state: "finished" }], {
    run,
    signal,
    memory: undefined,
  });
  expect(seen).toHaveLength(3);
});
