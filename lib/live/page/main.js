import { enterTab, noteAddress, takeAddress } from "./address.js";
import { Connection } from "./connection.js";
import { doctorText } from "./doctor-text.js";
import { el, fill, renew } from "./dom.js";
import { duration } from "./format.js";
import { Page } from "./page.js";
import { PANELS } from "./panels.js";
import { applyTheme } from "./view.js";

/** @import { Mounted, Change } from "./page.js" */
/** @import { RunInfo, ControlAction } from "../wire.ts" */

const REDRAW_MS = 400;
const THEMES = /** @type {const} */ (["auto", "light", "dark"]);
const COPIED_MS = 1500;
const COPY_TITLE =
  "the address of what is shown: tab, run, sample, conditions, zoom. It holds the key to this page: with it one can also control the runs";
const SMALL = {
  pause: "draws no new prompts; groups in progress continue",
  resume: "go on",
  checkpoint: "save a checkpoint, at the end of a step that is running",
  stop: "finish this step, save and end",
};

const page = new Page(new Connection());
const panels = PANELS.filter(({ needsServer }) => !needsServer || !page.connection.frozen);
const tabs = el("nav", { className: "tabs", role: "tablist", "aria-label": "parts of the page" });
const header = el("header", { className: "top" });
const main = el("main", { role: "tabpanel" });
const help = helpDialog();
/** @type {Mounted | undefined} */
let mounted;
let current = "";
let copied = false;

/** Changes since the last drawing: many steps per second must not cause as many drawings. @type {Set<Change>} */
const pending = new Set();

/** @param {Change} what */
function changed(what) {
  if (pending.size === 0) setTimeout(redraw, what === "steps" || what === "line" ? REDRAW_MS : 0);
  pending.add(what);
}

function redraw() {
  const all = [...pending];
  pending.clear();
  showHeader();
  showEmptyTabs();
  for (const what of all) mounted?.update?.(what);
}

function showPanel() {
  const { tab: id, given } = takeAddress(location.hash, page);
  const panel = panels.find((panel) => panel.id === id) ?? /** @type {typeof PANELS[0]} */ (panels[0]);
  if (panel.id === current && !given) return noteAddress();
  current = panel.id;
  mounted?.close?.();
  const root = el("div", { className: "panel", id: `panel-${panel.id}` });
  fill(main, root);
  mounted = panel.mount(root, page);
  enterTab(panel.id, page);
  for (const tab of tabs.children) {
    const isIts = tab.getAttribute("href") === `#${panel.id}`;
    tab.setAttribute("aria-selected", String(isIts));
    if (isIts) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
  }
}

/** Greys out tabs without content and shows the reason. */
function showEmptyTabs() {
  for (const [i, { title, empty }] of panels.entries()) {
    const why = empty?.(page);
    const tab = tabs.children[i];
    tab?.classList.toggle("empty", why !== undefined);
    tab?.setAttribute("title", why ?? `${title} (${i + 1})`);
  }
}

/** True if the server does not respond: the last known state is shown, marked as old. */
const broken = () => page.store.stream === "broken" && !page.connection.frozen;

/** Hint for a silent server: a running process may respond again; the page of a finished run needs a command. */
function silence() {
  const live = page.store.runs.some(({ state }) => ["running", "paused", "stopping"].includes(state));
  const [first] = page.visibleRuns();
  if (live || first === undefined) return "no connection; trying again";
  return `no longer served: npx hone watch ${first.dir}`;
}

function showHeader() {
  const { runs } = page.store;
  const inHeader = page.headerRuns();
  const [first] = page.visibleRuns();
  document.title =
    first === undefined
      ? "Hone"
      : `${first.state === "running" && !broken() ? "▶ " : ""}${runs.length === 1 ? first.name : `${runs.length} runs`} · Hone`;
  renew(
    header,
    el(
      "div",
      { className: "top-runs" },
      ...inHeader.map(runLine),
      runs.length > inHeader.length &&
        el("p", { className: "muted" }, `and ${runs.length - inHeader.length} more`),
    ),
    el(
      "div",
      { className: "top-tools" },
      broken() && el("span", { className: "state silent", role: "alert" }, silence()),
      !page.connection.frozen &&
        el(
          "button",
          { type: "button", title: COPY_TITLE, onclick: () => void copyLink() },
          copied ? "copied" : "copy link",
        ),
      el(
        "button",
        { type: "button", title: "light, dark, or as the system has it (t)", onclick: nextTheme },
        `theme: ${page.view.theme}`,
      ),
      el(
        "button",
        { type: "button", title: "keys (?)", "aria-label": "keys", onclick: () => help.showModal() },
        "?",
      ),
    ),
  );
}

/** @param {RunInfo} info */
function runLine(info) {
  const { status, state } = info;
  const live = ["running", "paused", "stopping"].includes(state);
  const silent = live && broken();
  // the step that the sentence beside it is about, since the log may be a second ahead
  const step = live && status?.phase.name === "training" ? status.step : info.rows;
  const elapsed = status && live ? ` · ${duration((status.writtenMs - status.sittingStartedMs) / 1000)}` : "";
  const phase =
    status && live && status.phase.name !== "training"
      ? ` · ${status.phase.name}${status.phase.total > 0 ? ` ${status.phase.done} of ${status.phase.total}` : ""}`
      : "";
  return el(
    "div",
    { className: "run-line", "data-run": info.run },
    el("h1", { title: info.dir }, page.runLabel(info.run)),
    silent
      ? el("span", { className: "state" }, `was ${state}`)
      : el("span", { className: `state ${state}` }, state),
    el(
      "span",
      { className: "muted steps" },
      `step ${step}${info.steps === undefined ? "" : ` of ${info.steps}`}${phase}${elapsed}`,
    ),
    info.damaged > 0 && el("span", { className: "state silent" }, `${info.damaged} damaged lines left out`),
    live && !silent && !page.connection.frozen && controls(info),
    status !== undefined &&
      live &&
      el("p", { className: `doctor ${status.waits.stuck ? "stuck" : ""}` }, doctorText(status, live)),
  );
}

/** @param {RunInfo} info */
function controls({ run, state, status }) {
  const training = status?.phase.name === "training";
  const button = (/** @type {ControlAction} */ action, enabled = true) =>
    el(
      "button",
      {
        type: "button",
        title: SMALL[action],
        disabled: !enabled || state === "stopping",
        onclick: () => void ask(run, action),
      },
      action,
    );
  return el(
    "span",
    { className: "controls", role: "group", "aria-label": "controls" },
    button(state === "paused" ? "resume" : "pause"),
    button("checkpoint", training),
    button("stop"),
  );
}

/** @param {number} run @param {ControlAction} action */
async function ask(run, action) {
  if (
    action === "stop" &&
    !confirm(`Stop ${page.runLabel(run)}? It finishes its step, saves, and can be resumed.`)
  )
    return;
  await page.connection.control(run, action).catch((error) => page.say(error));
}

/** Copies the address of the current view to the clipboard; shows it if the browser forbids that. */
async function copyLink() {
  noteAddress();
  try {
    await navigator.clipboard.writeText(location.href);
  } catch {
    return page.say(`To copy by hand: ${location.href}`);
  }
  copied = true;
  showHeader();
  setTimeout(() => {
    copied = false;
    showHeader();
  }, COPIED_MS);
}

/** @param {typeof THEMES[number]} theme */
function showTheme(theme) {
  applyTheme(theme);
  mounted?.update?.("theme");
}

function nextTheme() {
  page.view.theme = THEMES[(THEMES.indexOf(page.view.theme) + 1) % THEMES.length] ?? "auto";
  changed("theme");
}

function helpDialog() {
  const keys = [
    ["1 … 9", "parts of the page"],
    ["/", "search metrics"],
    ["s", "more smoothing, then none"],
    ["z", "all steps again"],
    ["t", "light, dark, system"],
    ["← →", "in a chart: the cursor by a step"],
    ["drag, double-click", "zoom into steps, and out"],
    ["j, k", "in Samples: the next completion, the one before"],
  ];
  return el(
    "dialog",
    {},
    el("h2", {}, "Keys"),
    el("dl", {}, ...keys.flatMap(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)])),
    el("form", { method: "dialog" }, el("button", {}, "close")),
  );
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const typing =
    event.target instanceof HTMLInputElement ||
    event.target instanceof HTMLSelectElement ||
    event.target instanceof HTMLTextAreaElement;
  if (typing || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  const panel = panels[Number(event.key) - 1];
  if (panel !== undefined) location.hash = panel.id;
  else if (event.key === "/") openSearch();
  else if (event.key === "z") page.view.range = null;
  else if (event.key === "s") page.view.nextSmoothing();
  else if (event.key === "t") nextTheme();
  else if (event.key === "?") help.showModal();
  else if (!mounted?.key?.(event.key)) return;
  event.preventDefault();
}

function openSearch() {
  location.hash = "metrics";
  showPanel();
  document.getElementById("metric-search")?.focus();
}

fill(
  tabs,
  ...panels.map(({ id, title }, i) =>
    el("a", { href: `#${id}`, role: "tab", title: `${title} (${i + 1})` }, title),
  ),
);
const foot = el("footer", {}, "Hone. Charts drawn by uPlot (MIT licence, Leon Sorokin).");
document.getElementById("page")?.append(header, tabs, page.notice, main, foot, help);
applyTheme(page.view.theme);
page.store.on(changed);
page.view.on(() => {
  noteAddress();
  changed("view");
});
addEventListener("hashchange", showPanel);
addEventListener("keydown", onKey);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  applyTheme(page.view.theme);
  changed("theme");
});
// charts are drawn in the colours of the theme, and paper is white
addEventListener("beforeprint", () => showTheme("light"));
addEventListener("afterprint", () => showTheme(page.view.theme));
page.store.load().then(
  () => {
    showEmptyTabs();
    showPanel();
  },
  (error) => page.say(error),
);
