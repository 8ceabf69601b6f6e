import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listRuns, runFolders } from "../../lib/runs/list.ts";
import { scratch, writeRun } from "./folders.ts";

test("runs at any depth of a sweep, each with the fields that tell it from the others", async () => {
  const dir = scratch();
  const one = writeRun(join(dir, "one"), { lr: 0.001 });
  const two = writeRun(join(dir, "sweep", "lr", "0"), { lr: 0.002, config: { extra: true } });
  writeRun(join(dir, "one", "checkpoints"), {}); // a run's own folders contain no runs
  symlinkSync(dir, join(dir, "around"));
  mkdirSync(join(dir, "empty"));
  const { runs, unreadable } = await listRuns(dir);
  const byFolder = new Map(runs.map((run) => [run.dir, run.differs]));
  expect(byFolder).toEqual(
    new Map([
      [one, { "optimizer.lr": "0.001" }],
      [two, { "optimizer.lr": "0.002", extra: "true" }],
    ]),
  );
  expect(unreadable).toEqual([]);
  expect((await listRuns(one)).runs.map(({ differs }) => differs)).toEqual([{}]);
});

test("a damaged run is named and hides no other", async () => {
  const dir = scratch();
  writeRun(join(dir, "good"));
  mkdirSync(join(dir, "bad"));
  writeFileSync(join(dir, "bad", "run.json"), "{");
  const { runs, unreadable } = await listRuns(dir);
  expect(runs.map(({ dir: folder }) => folder)).toEqual([join(dir, "good")]);
  expect(unreadable).toEqual([{ dir: join(dir, "bad"), error: expect.stringContaining("not JSON") }]);
});

test("a folder that is not there is an error, one without runs is not", async () => {
  expect(() => runFolders(join(scratch(), "none"))).toThrow(expect.objectContaining({ code: "HONE_ERR_IO" }));
  expect(await listRuns(scratch())).toEqual({ runs: [], unreadable: [] });
});
