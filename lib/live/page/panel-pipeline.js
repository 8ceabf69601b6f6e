import { doctorText } from "./doctor-text.js";
import { el, renew, table } from "./dom.js";
import { oneLineEach } from "./first-screen.js";
import { bytes, duration, short } from "./format.js";
import { ChartGrid } from "./panel-overview.js";

/** @import { Panel, Page } from "./page.js" */
/** @import { PipelineStatus, RunInfo } from "../wire.ts" */

const OLD_SECONDS = 15;

/** @type {Panel} */
export const pipelinePanel = {
  id: "line",
  title: "Pipeline",
  mount(root, page) {
    const now = el("div", { className: "line-now" });
    const history = el("div", { className: "charts" });
    root.append(now, el("h2", {}, "Over the steps"), history);
    const charts = new ChartGrid(page, history);
    const show = () => renew(now, ...page.visibleRuns().map((info) => runNow(info, page)));
    const redrawLine = () => {
      show();
      const several = page.visibleRuns().length > 1 && !page.view.everyLine;
      charts.show(
        several ? historyCharts(page).map((spec) => oneLineEach(spec, () => false)) : historyCharts(page),
      );
    };
    redrawLine();
    return {
      update(what) {
        if (what === "theme") return charts.repaint();
        if (what === "line") return show();
        if (what !== "steps") redrawLine();
        charts.update();
      },
      close: () => charts.close(),
    };
  },
};

/** @param {RunInfo} info @param {Page} page */
function runNow(info, page) {
  const { status } = info;
  const title = page.store.runs.length > 1 && el("h2", {}, page.runLabel(info.run));
  if (status === undefined)
    return el(
      "section",
      {},
      title,
      el(
        "p",
        { className: "muted" },
        "This run left no line.json: it was made by an older version, or has not begun.",
      ),
    );
  const live = ["running", "paused", "stopping"].includes(info.state);
  const isAbove = live && page.headerRuns().some(({ run }) => run === info.run);
  return el(
    "section",
    { "data-run": info.run },
    title,
    !isAbove &&
      el(
        "p",
        { className: `doctor ${status.waits.stuck && live ? "stuck" : ""}`, role: "status" },
        doctorText(status, live),
      ),
    stages(status, live),
    processes(status, live),
    el("div", { className: "pair" }, machine(status), verifiers(status)),
    status.requests.length > 0 && requests(status),
  );
}

/** @param {PipelineStatus} status @param {boolean} live */
function stages({ stages, credits, version }, live) {
  return el(
    "ol",
    { className: "stages" },
    ...stages.map(({ name, holds, of, unit, busy, detail }) => {
      const share = of === undefined || of === 0 ? undefined : Math.min(1, holds / of);
      const bar = el("span", { className: "bar" });
      bar.style.width = `${100 * (share ?? 0)}%`;
      return el(
        "li",
        { className: busy && live ? "stage busy" : "stage", "data-stage": name },
        el("span", { className: "stage-name" }, name),
        el("b", {}, of === undefined ? short(holds) : `${short(holds)} / ${short(of)}`),
        el("span", { className: "muted" }, name === "prompts" ? "credits free" : unit),
        share !== undefined && el("span", { className: "track" }, bar),
        el("p", {}, detail),
      );
    }),
    el(
      "li",
      { className: "stage", "data-stage": "weights" },
      el("span", { className: "stage-name" }, "weights"),
      el("b", {}, `v${version.trainer}`),
      el("span", { className: "muted" }, "trainer"),
      el(
        "p",
        {},
        `the engine ${live ? "samples" : "sampled last"} with v${version.engine}; ${credits.total - credits.free} of ${credits.total} credits are out`,
      ),
    ),
  );
}

/** @param {PipelineStatus} status @param {boolean} live */
function processes({ processes = [], writtenMs }, live) {
  const others = processes.filter(({ name }) => !name.startsWith("verifier."));
  if (others.length < 2) return false; // a single process is described by the machine's card already
  const rows = processes.map((row) => [
    row.name,
    live ? row.state : "gone",
    row.pid === undefined || !live ? "–" : String(row.pid),
    row.version === undefined ? "–" : `v${row.version}`,
    row.lag === undefined ? "–" : String(row.lag),
    row.tokensPerSecond === undefined ? "–" : short(row.tokensPerSecond),
    String(row.restarts),
    row.doing,
    row.ended === undefined ? "–" : endText(row.ended, writtenMs),
  ]);
  const head = [
    "process",
    "state",
    "pid",
    "version",
    "lag",
    "tokens/s",
    "restarts",
    "does",
    "the last one ended",
  ];
  return el("div", { className: "card processes" }, el("h3", {}, "Processes"), table(head, rows));
}

/** @param {import("../wire.ts").ProcessEnd} end @param {number} nowMs */
function endText({ how, atMs, words }, nowMs) {
  const last = words.trim().split("\n").at(-1);
  return `${how}, ${duration((nowMs - atMs) / 1000)} before${last ? `: ${last}` : ""}`;
}

/** @param {PipelineStatus} status */
function machine({ machine, engine, pid, writtenMs }) {
  const { gpu } = machine;
  const facts = [
    ["memory of the process", bytes(machine.rssBytes)],
    ["of it JavaScript", bytes(machine.heapBytes)],
    ["processors busy", machine.processors.toFixed(1)],
    ["threads", String(machine.threads)],
    ["device", machine.device],
    ...(gpu === undefined
      ? []
      : [
          ["GPU memory", `${bytes(gpu.usedBytes)} of ${bytes(gpu.totalBytes)}`],
          ["GPU busy", `${Math.round(100 * gpu.busy)} %`],
        ]),
    ["sampled", `${short(engine.tokensPerSecond)} tokens/s`],
    ["cache pages", `${engine.pagesUsed} of ${engine.pagesTotal}`],
    ["process", `${pid}, seen ${ago(writtenMs)}`],
  ];
  return el(
    "div",
    { className: "card" },
    el("h3", {}, "Machine"),
    el("dl", {}, ...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
  );
}

/** @param {number} ms */
function ago(ms) {
  const seconds = (Date.now() - ms) / 1000;
  return seconds < OLD_SECONDS ? "now" : `${duration(seconds)} ago`;
}

/** @param {PipelineStatus} status */
function verifiers({ verifiers, verifierWorkers }) {
  const rows = verifiers.map(
    ({ name, out, oldestMs, limitMs, calls, timeouts, crashes, unscored, p50Ms, p95Ms }) => [
      name,
      String(out),
      out === 0 ? "–" : duration(oldestMs / 1000),
      limitMs === undefined ? "–" : duration(limitMs / 1000),
      short(calls),
      String(timeouts),
      String(crashes),
      String(unscored),
      `${short(p50Ms)} / ${short(p95Ms)} ms`,
    ],
  );
  return el(
    "div",
    { className: "card verifiers" },
    el("h3", {}, `Verifiers, ${verifierWorkers} at a time`),
    rows.length === 0
      ? el("p", { className: "muted" }, "None was called yet. Episodes are scored by their environment.")
      : table(
          ["verifier", "out", "oldest", "limit", "calls", "timed out", "crashed", "unscored", "p50 / p95"],
          rows,
        ),
    rows.length > 0 &&
      el(
        "p",
        { className: "muted note" },
        "Of this session, with the evaluation before its first step; Results counts what steps had judged.",
      ),
  );
}

/** @param {PipelineStatus} status */
function requests({ requests }) {
  const rows = [...requests]
    .reverse()
    .map(({ action, by, step, state, error }) => [
      action,
      by,
      `step ${step}`,
      error === undefined ? state : `${state}: ${error}`,
    ]);
  return el(
    "div",
    { className: "card" },
    el("h3", {}, "Requests to this run"),
    table(["what", "by", "when", "came to"], rows),
  );
}

/** @param {Page} page @returns {import("./chart-data.js").ChartSpec[]} */
function historyCharts(page) {
  const names = new Set(page.visibleRuns().flatMap((run) => [...run.names]));
  const lines = (/** @type {[string, string][]} */ list) =>
    list.flatMap(([name, label], hue) => (names.has(name) ? [{ name, label, hue }] : []));
  return [
    {
      id: "utilisation",
      title: "Who is busy",
      note: "Share of the step each role worked; the highest is the bottleneck.",
      unit: "fraction",
      lines: lines([
        ["utilisation/engine", "engine"],
        ["utilisation/trainer", "trainer"],
        ["utilisation/verifiers", "verifiers"],
      ]),
    },
    {
      id: "queues",
      title: "Waiting",
      note: "Groups that wait for verdicts, and for the trainer.",
      unit: "items",
      lines: lines([
        ["queue/verifier", "verifiers"],
        ["queue/batcher", "trainer"],
      ]),
    },
    {
      id: "credits",
      title: "Credits out",
      note: "Share of the credits in use at the end of each step, when the trainer has just returned some.",
      unit: "fraction",
      lines: lines([["credits/used", "used"]]),
    },
    {
      id: "lag-mean",
      title: "Lag",
      note: "Versions between sampling and training.",
      unit: "steps",
      lines: lines([
        ["lag/mean", "mean"],
        ["lag/max", "max"],
      ]),
    },
    {
      id: "throughput",
      title: "Throughput",
      note: "Tokens a second of wall time.",
      unit: "tokens/s",
      lines: lines([
        ["speed/generated", "generated"],
        ["speed/trained", "trained"],
      ]),
    },
    {
      id: "memory",
      title: "Memory",
      note: "Resident memory of the process at the end of the step.",
      unit: "bytes",
      lines: lines([["memory/rss", "resident"]]),
    },
  ].filter(({ lines }) => lines.length > 0);
}
