// The page's looks are judged in a browser; here is what a browser would stumble over.
import { Script } from "node:vm";
import { describe, expect, test } from "vitest";
import type { StoredManifest } from "../../lib/metrics/index.ts";
import { CHART_SCRIPT } from "../../lib/report/chart-script.ts";
import { reportPage } from "../../lib/report/page.ts";
import { PAGE_STYLE } from "../../lib/report/page-style.ts";
import { syntheticSummary } from "./synthetic-run-folder.ts";

const manifest: StoredManifest = {
  schema: 1,
  name: "run <1>",
  config: { note: "</pre><script>" },
  seeds: { run: "7" },
  versions: { hone: "0.1.0" },
  startedAt: "2026-01-02T03:04:05.000Z",
  commit: null,
};
const library = { script: "var uPlot;", style: ".uplot{}" };
const steps = [1, 2].map((step) => ({
  first: step,
  step,
  steps: 1,
  version: step,
  metrics: { "entropy/mean": 0.5, "mixture/target/math": 1 },
}));
const page = reportPage({ manifest, steps, summary: syntheticSummary() }, library);

describe("the page", () => {
  test("loads nothing: no address but the policy that forbids one", () => {
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/(?:src|href)\s*=|url\(|@import|https?:/);
  });

  test("lets no text of a run become markup", () => {
    expect(page).toContain("<h1>run &lt;1&gt;</h1>");
    expect(page).not.toContain("</pre><script>");
  });

  test("closes what it opens", () => {
    const body = page.replace(/<(script|style)[^>]*>[\s\S]*?<\/\1>/g, "");
    const open: string[] = [];
    for (const [, close, tag, rest] of body.matchAll(/<(\/?)([a-z][a-z0-9]*)([^>]*)>/g)) {
      if (/^(meta|hr|br)$/.test(tag!) || rest!.endsWith("/")) continue;
      if (close === "/") expect(open.pop()).toBe(tag);
      else open.push(tag!);
    }
    expect(open).toEqual([]);
  });

  test("has the tables, the notes, the charts, the seed and the recipe", () => {
    for (const part of [
      "0.516 → 0.830",
      "+31.4 points",
      "imperfect demonstrations",
      'id="chart-0"',
      "Entropy",
      "Resolved recipe",
    ]) {
      expect(page).toContain(part);
    }
    expect(page).toContain("<dt>seed, run</dt><dd>7</dd>");
  });

  test("of a run that has only begun says so", () => {
    const young = reportPage({ manifest, steps: [] }, library);
    expect(young).toContain("unfinished · 0 steps logged");
    expect(young).toContain("No training step is in the run log yet.");
    expect(young.slice(0, young.indexOf("<script"))).not.toMatch(/undefined|NaN/);
  });
});

describe("its script", () => {
  test("parses, and reads only what the page has", () => {
    expect(() => new Script(CHART_SCRIPT)).not.toThrow();
    expect(CHART_SCRIPT).not.toContain("</script");
    expect(CHART_SCRIPT).not.toMatch(/fetch|XMLHttpRequest|import\(/);
  });

  test("finds every colour it asks for in the style sheet, in light and in dark", () => {
    const asked = [...CHART_SCRIPT.matchAll(/color\("(--[a-z]+)"\)/g)].map(([, name]) => name!);
    expect(asked.length).toBeGreaterThan(0);
    for (const name of [...asked, "--hue-0", "--hue-6"])
      expect(PAGE_STYLE.split(`${name}:`).length).toBeGreaterThan(1);
    expect(PAGE_STYLE.split("--hue-6:")).toHaveLength(3);
  });
});
