import { colour, withAlpha } from "./chart-look.js";
import { el, fill } from "./dom.js";

/** @import { Page } from "./page.js" */
/** @import { Mark, RunInfo } from "../wire.ts" */
/** @import { default as UPlot } from "uplot" */

/**
 * What a mark looks like: the shape on the chart, its colour in the style sheet, and the sign that stands for it in words.
 * @typedef {{ shape: "foot" | "head" | "line" | "band", hue: string, dash?: number[], sign: string, words: string }} MarkLook
 */

/** Looks by kind; a warning is shown as text at its step, and not drawn. @type {{ [kind in Mark["kind"]]?: MarkLook }} */
const MARK_LOOKS = {
  checkpoint: { shape: "foot", hue: "--muted", sign: "▲", words: "checkpoint" },
  evaluation: { shape: "head", hue: "--hue-2", sign: "▼", words: "evaluation" },
  phase: { shape: "line", hue: "--hue-4", dash: [], sign: "│", words: "warm start" },
  pause: { shape: "band", hue: "--hue-1", sign: "▒", words: "paused" },
  resume: { shape: "line", hue: "--hue-3", dash: [6, 4], sign: "┆", words: "resumed by a new process" },
  control: { shape: "line", hue: "--hue-1", dash: [2, 3], sign: "┊", words: "asked for" },
};

/** Pixels between two checkpoints. */
const MARK_DISTANCE = 18;

/**
 * Texts of the marks at a step; the first step includes marks before it. @param {readonly RunInfo[]} runs @param
 * {number} step @returns {string[]}
 */
export const marksAt = (runs, step) =>
  runs
    .flatMap(({ marks }) => marks)
    .filter(({ from, step: to }) => (from ?? to) <= step && step <= Math.max(1, to))
    .map(({ text }) => text);

/** Draws behind the lines: phases, sessions, checkpoints, evaluations. @param {UPlot} u @param {readonly RunInfo[]} runs */
export function drawMarks(u, runs) {
  u.ctx.save();
  for (const mark of runs.flatMap(({ marks }) => spaced(u, marks))) {
    const look = MARK_LOOKS[mark.kind];
    if (look !== undefined) drawMark(u, mark, look);
  }
  u.ctx.restore();
}

/**
 * Thins out checkpoint marks so that they do not form a dense row; keeps the last ones. @param {UPlot} u @param
 * {readonly Mark[]} marks
 */
function spaced(u, marks) {
  let next = Number.POSITIVE_INFINITY;
  return [...marks]
    .sort((a, b) => b.step - a.step)
    .filter(({ kind, step }) => {
      if (kind !== "checkpoint") return true;
      const at = u.valToPos(step, "x");
      if (next - at < MARK_DISTANCE) return false;
      next = at;
      return true;
    });
}

/** @param {UPlot} u @param {Mark} mark @param {MarkLook} look */
function drawMark({ ctx, bbox, scales, valToPos }, { from, step }, { shape, hue, dash = [] }) {
  const first = scales["x"]?.min ?? 0;
  // marks before the first step are drawn at the edge, if the first step is visible
  const at = (/** @type {number} */ s) => Math.round(valToPos(s < 1 && first <= 1 ? first : s, "x", true));
  const [left, right] = [bbox.left, bbox.left + bbox.width];
  const [x, begin] = [at(step), at(from ?? step)];
  if (begin > right || x < left) return;
  ctx.strokeStyle = ctx.fillStyle = colour(hue);
  ctx.lineWidth = devicePixelRatio;
  const foot = bbox.top + bbox.height;
  if (shape === "foot") triangle(ctx, x, foot, -1);
  else if (shape === "head") triangle(ctx, x, bbox.top, 1);
  else if (shape === "band") {
    const from = Math.max(left, begin - devicePixelRatio);
    const width = Math.min(right, x + devicePixelRatio) - from;
    ctx.fillRect(from, bbox.top, width, 3 * devicePixelRatio);
    ctx.fillStyle = withAlpha(colour(hue), 0.16);
    ctx.fillRect(from, bbox.top, width, bbox.height);
  } else {
    ctx.setLineDash(dash);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, foot);
    ctx.stroke();
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {number} x @param {number} y of its side @param {1 | -1} way that it points */
function triangle(ctx, x, y, way) {
  const size = 4 * devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(x - size, y);
  ctx.lineTo(x + size, y);
  ctx.lineTo(x, y + 1.6 * size * way);
  ctx.fill();
}

/** The legend of the marks. @param {Page} page @param {HTMLElement} list */
export function showMarkKey(page, list) {
  const kinds = new Set(page.visibleRuns().flatMap(({ marks }) => marks.map(({ kind }) => kind)));
  const items = Object.entries(MARK_LOOKS).flatMap(([kind, { hue, sign, words }]) => {
    if (!kinds.has(/** @type {Mark["kind"]} */ (kind))) return [];
    const shape = el("span", { "aria-hidden": "true" }, sign);
    shape.style.color = `var(${hue})`;
    return [el("li", { "data-mark": kind }, shape, ` ${words}`)];
  });
  fill(list, ...items);
}
