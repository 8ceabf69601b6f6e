import { expect, test } from "vitest";
import { statusText } from "../../lib/cli/status-table.ts";
import { printedColumns } from "../../lib/report/terminal.ts";
import { readStatus } from "../../lib/runs/index.ts";
import { writeStatus } from "../live/live-run.ts";
import { scratch, writeRun } from "../runs/folders.ts";

test("who is alive, who ended with which words, who waits for whom; nothing wider than 80 columns", async () => {
  const dir = writeRun(scratch(), { ofSteps: 20 });
  const nowMs = 1_700_000_000_000;
  const ended = {
    atMs: nowMs - 9000,
    how: "by SIGKILL",
    words: `first\nHONE_ERR_IO  \u001b[31m${"x".repeat(200)}`,
  };
  const waits = { sentence: `trainer waits for ${"the engine ".repeat(12)}`, sinceMs: nowMs, stuck: false };
  const takenUp = { rollouts: 3, tokens: 4000, lostTokens: 70 };
  const engine = { pagesUsed: 1, pagesTotal: 2, tokensPerSecond: 3, takenUp };
  const line = writeStatus(dir, {
    waits,
    engine,
    store: { address: "redis://user:***@host:6379", run: "run-1" },
  });
  const status = { ...(await readStatus(dir)), asOfMs: nowMs - 4000, line };
  const actor = { name: "actor.1", pid: 77, state: "alive", restarts: 2, version: 4, lag: 1, ended } as const;
  const metrics = "http://10.0.0.1:9400/metrics";
  const rows = [
    { ...actor, metrics, tokensPerSecond: 1234.5, doing: "samples 12" },
    { name: "actor.2", state: "gone", restarts: 0, metrics, doing: "is started again" } as const,
  ];
  const text = statusText({ ...status, processes: rows }, 80, nowMs);
  for (const each of text.split("\n")) expect(each.length, each).toBeLessThanOrEqual(80);
  expect(text).toMatch(/^demo: killed +step 3 of 20 +seen 4 s ago/);
  expect(text).toMatch(/actor\.1 +alive +77 +v4 +1 +1\.23k +2 +samples 12/);
  expect(text).toMatch(/actor\.1 ended by SIGKILL, 9 s ago\n {2}first\n {2}HONE_ERR_IO {2}\\x1b\[31mx/);
  expect(text).toMatch(/engine 64\/128.*\n?.*20 of 32 credits out/);
  expect(text).toMatch(/3 rollouts taken up +4000 tokens kept +70 lost/);
  expect(text).toContain("verifier python, pool of 2: 14 out, the oldest for 9 s; 9 timed out");
  expect(text.match(/^actor\.\d metrics .*/gm)).toEqual([`actor.1 metrics ${metrics}`]);
  expect(text).toContain("redis://user:***@host:6379");
  const piped = statusText({ ...status, processes: rows }, printedColumns({}), nowMs);
  expect(piped).toContain(`\\x1b[31m${"x".repeat(200)}\n`);
});

test("a run that left no line.json says so", async () => {
  const status = await readStatus(writeRun(scratch()));
  expect(statusText(status, 80, Date.now())).toContain("it left no line.json");
});
