import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ControlOutcome } from "../../../lib/metrics/index.ts";
import { ControlInbox } from "../../../lib/orchestration/run/control-inbox.ts";
import { patient } from "../../patience.ts";

const WAIT = { timeout: patient(10_000) };
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-requests-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

function leave(name: string, text: string): void {
  mkdirSync(join(dir, "requests"), { recursive: true });
  writeFileSync(join(dir, "requests", name), text);
}
const ask = (id: string, action: string) =>
  leave(`${id}.json`, JSON.stringify({ schema: 1, id, action, by: "page" }));

function boxed() {
  const did: string[] = [];
  const told: ControlOutcome[] = [];
  const run = {
    step: 7,
    pause: () => void did.push("pause"),
    resume: () => void did.push("resume"),
    checkpoint: async () => {
      did.push("checkpoint");
      if (did.filter((what) => what === "checkpoint").length > 1) throw new Error("no room");
      return "path";
    },
    stop: async () => {
      did.push("stop");
      return { reason: "stopped", steps: 7, version: 7 } as const;
    },
  };
  return { box: new ControlInbox(dir, run, (outcome) => told.push(outcome)), did, told };
}

test("does what each file says, once, in the order they came, and tells what came of it", async () => {
  const { box, did, told } = boxed();
  ask("b2", "resume");
  ask("a1", "pause");
  box.look();
  box.look();
  expect(did).toEqual(["pause", "resume"]);
  expect(readdirSync(join(dir, "requests"))).toEqual([]);
  await vi.waitFor(
    () => expect(told.map(({ state }) => state)).toEqual(["taken", "taken", "done", "done"]),
    WAIT,
  );
  expect(box.outcomes).toEqual([
    { schema: 1, id: "a1", action: "pause", by: "page", step: 7, state: "done" },
    { schema: 1, id: "b2", action: "resume", by: "page", step: 7, state: "done" },
  ]);
});

test("what fails is told with its reason", async () => {
  const { box } = boxed();
  for (const id of ["a", "b"]) ask(id, "checkpoint");
  box.look();
  await vi.waitFor(() => expect(box.outcomes.map(({ state }) => state)).toEqual(["done", "failed"]), WAIT);
  expect(box.outcomes[1]?.error).toBe("no room");
});

test("what was meant for an earlier session is not done", () => {
  ask("old", "stop");
  const { box, did } = boxed();
  box.look();
  expect(did).toEqual([]);
  expect(existsSync(join(dir, "requests"))).toBe(false);
});

test.each([
  ["no JSON", "x.json", "{"],
  ["an unknown action", "x.json", '{"schema":1,"id":"x","action":"delete","by":"me"}'],
  ["another schema", "x.json", '{"schema":2,"id":"x","action":"stop","by":"me"}'],
  ["no id", "x.json", '{"schema":1,"action":"stop","by":"me"}'],
  ["null", "x.json", "null"],
])("a file with %s does nothing", (_, name, text) => {
  const { box, did } = boxed();
  leave(name, text);
  box.look();
  expect([did, box.outcomes]).toEqual([[], []]);
  expect(readdirSync(join(dir, "requests"))).toEqual([]);
});

test("a file that is still being written is left alone", () => {
  const { box } = boxed();
  leave("x.json.tmp", "{");
  box.look();
  expect(readdirSync(join(dir, "requests"))).toEqual(["x.json.tmp"]);
});
