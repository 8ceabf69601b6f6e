import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { requestControl } from "../../lib/live/control.ts";
import { WatchedRun } from "../../lib/live/watched-run.ts";
import { smallRun, writeStatus } from "./live-run.ts";

function runIn(state: Parameters<typeof writeStatus>[1]): WatchedRun {
  const dir = smallRun(1);
  writeStatus(dir, state);
  const run = new WatchedRun(dir, 0);
  run.look();
  return run;
}

test("leaves a whole file where the run looks, a new one each time", () => {
  const run = runIn({});
  const requests = [requestControl(run, "pause", "me"), requestControl(run, "stop", "me")];
  const folder = join(run.dir, "requests");
  const files = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
  expect(files).toHaveLength(2);
  expect(files).toEqual(expect.arrayContaining(requests));
});

test.each(["delete", "", undefined, "__proto__", { action: "stop" }])("refuses action %j", (action) => {
  const run = runIn({});
  expect(() => requestControl(run, action, "me")).toThrow(
    expect.objectContaining({ code: "HONE_ERR_USAGE" }),
  );
});

test.each([{ end: "done" }, { end: "stopping" }, { writtenMs: 0 }] as const)(
  "asks nothing of a run that is %j",
  (state) => {
    const run = runIn(state);
    expect(() => requestControl(run, "stop", "me")).toThrow(
      expect.objectContaining({ code: "HONE_ERR_STATE" }),
    );
    expect(existsSync(join(run.dir, "requests"))).toBe(false);
  },
);
