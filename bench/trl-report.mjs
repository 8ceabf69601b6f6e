// Writes the results of bench/trl.bench.mjs: rows, a table in Markdown, all runs in JSON, and one panel of curves per
// objective in SVG.
import { writeFileSync } from "node:fs";
import path from "node:path";
import { figureSvg } from "../dist/lib/report/figure.js";

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const variance = (values) =>
  values.length < 2 ? 0 : values.reduce((sum, x) => sum + (x - mean(values)) ** 2, 0) / (values.length - 1);

/** The difference of the means of two lists, plain and in its standard errors. */
function apart(ours, theirs) {
  const difference = mean(ours) - mean(theirs);
  const error = Math.sqrt(variance(ours) / ours.length + variance(theirs) / theirs.length);
  return { difference, error };
}

const afters = (runs) => runs.map(({ after }) => after);
/** Reduces a run's curve to one number: its mean over the batches. */
const levels = (runs) => runs.map(({ curve }) => mean(curve));
const seconds = (runs) => mean(runs.map((run) => run.seconds));

/** The largest relative difference between gradient norms: at the weights that sampled the batch, and at later ones. */
function farthest({ lag, hone, trl }, isLate) {
  const all = hone.map(({ norm }, i) => Math.abs(trl[i].norm / norm - 1));
  return Math.max(...all.filter((_, i) => lag[i] > 0 === isLate));
}

const gradientCells = (gradients) =>
  gradients === undefined
    ? "– | –"
    : [false, true].map((isLate) => farthest(gradients, isLate).toExponential(0)).join(" | ");

function rowOf({ name, hone, trl, gradients, peak }) {
  return {
    name,
    gradients,
    peak,
    heldOut: { hone: mean(afters(hone)), trl: mean(afters(trl)), ...apart(afters(hone), afters(trl)) },
    curve: { hone: mean(levels(hone)), trl: mean(levels(trl)), ...apart(levels(hone), levels(trl)) },
    seconds: { hone: seconds(hone), trl: seconds(trl) },
  };
}

const signed = (x, digits) => `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(digits)}`;
const compared = ({ hone, trl, difference, error }) =>
  `${trl.toFixed(3)} | ${hone.toFixed(3)} | ${signed(difference, 3)} ± ${error.toFixed(3)}`;

function tableOf(rows) {
  const head =
    "| objective | held out: TRL | Hone | difference | curve: TRL | Hone | difference | CPU s: TRL | Hone | peak MiB: TRL | Hone |";
  const body = rows.map(
    ({ name, heldOut, curve, seconds: { hone, trl }, peak }) =>
      `| ${name} | ${compared(heldOut)} | ${compared(curve)} | ${trl.toFixed(1)} | ${hone.toFixed(1)} | ${peak.trl.toFixed(0)} | ${peak.hone.toFixed(0)} |`,
  );
  return [head, `|${"---|".repeat(11)}`, ...body, ""].join("\n");
}

function gradientTable(rows) {
  const body = rows
    .filter(({ gradients }) => gradients)
    .map(({ name, gradients }) => `| ${name} | ${gradientCells(gradients)} |`);
  return ["| objective | on policy | off policy |", "|---|---|---|", ...body, ""].join("\n");
}

/** Draws the mean over seeds with a band of one standard deviation, batch by batch. */
function lineOf(label, hue, runs) {
  const byBatch = runs[0].curve.map((_, i) => runs.map(({ curve }) => curve[i]));
  const points = byBatch.map((values, i) => [i + 1, mean(values)]);
  const side = (sign) => byBatch.map((values) => mean(values) + sign * Math.sqrt(variance(values)));
  return { label, hue, points, band: { low: side(-1), high: side(1) } };
}

const PANEL = { width: 440, height: 300, columns: 3 };

function panelOf({ name, hone, trl }, i) {
  const lines = [lineOf("TRL", 1, trl), lineOf("Hone", 0, hone)];
  const distilled = name.startsWith("distillation");
  const lowest = Math.min(0.2, ...lines.flatMap(({ points }) => points.map(([, value]) => value)));
  const y = distilled ? { label: "" } : { label: "", range: [lowest, 1] };
  const svg = figureSvg({ title: name, note: "", x: { label: "batch" }, y, lines });
  const [x, top] = [(i % PANEL.columns) * PANEL.width, Math.floor(i / PANEL.columns) * PANEL.height];
  const what = distilled ? "reverse KL to the teacher, nats a token" : "score of the batch";
  const title = `<text x="${x + 48}" y="${top + 18}" font-size="14">${name}: ${what}</text>`;
  return `${title}\n${svg.text.replace("<svg ", `<svg x="${x}" y="${top + 24}" width="${PANEL.width}" height="274" `)}`;
}

function figureOf(results) {
  const rows = Math.ceil(results.length / PANEL.columns);
  const size = `0 0 ${PANEL.columns * PANEL.width} ${rows * PANEL.height}`;
  const panels = results
    .map(panelOf)
    .join("\n")
    .replaceAll(/var\(--[\w-]+, (#[0-9a-f]{6})\)/g, "$1");
  return `<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" viewBox="${size}">\n<rect width="100%" height="100%" fill="#ffffff"/>\n${panels}</svg>\n`;
}

/** Writes the three files and returns the rows of `npm run bench`. */
export function writeReport({ facts, results, variants, folder }) {
  const rows = results.map(rowOf);
  const file = path.join(folder, `${facts.date.slice(0, 10)}-trl`);
  const { cpu, node, ...versions } = facts.machine;
  const names = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const head = `${facts.date.slice(0, 10)}, ${cpu}, Node ${node}, ${names.join(", ")}; ${facts.batches} batches, ${facts.seeds.length} seeds. Held out before: ${facts.before.toFixed(3)}${facts.teacher === undefined ? "" : `; the teacher: ${facts.teacher.toFixed(3)}`}.`;
  writeFileSync(
    `${file}.md`,
    `${head}\n\n${tableOf(rows)}\nLargest relative difference of the gradient's norm, TRL's loss on Hone's batches:\n\n${gradientTable([...rows, ...variants])}`,
  );
  writeFileSync(`${file}.json`, `${JSON.stringify({ ...facts, results, variants }, null, 1)}\n`);
  writeFileSync(`${file}.svg`, figureOf(results));
  return rows.map(({ name, heldOut, curve, seconds: s, gradients, peak }) => ({
    name: `${name}: CPU seconds, times TRL's`,
    value: s.hone / s.trl,
    heldOut: heldOut.hone,
    "TRL's": heldOut.trl,
    curve: curve.hone,
    "TRL's curve": curve.trl,
    "peak MiB": peak.hone,
    "TRL's peak MiB": peak.trl,
    ...(gradients && { gradient: farthest(gradients, true) }),
  }));
}
