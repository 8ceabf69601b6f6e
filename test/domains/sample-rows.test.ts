// A data set's sample rows are valid: its reader keeps them, and its verifier accepts their gold answers.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkDataset } from "../../lib/cli/data-check.ts";
import {
  DATASETS,
  type DatasetKind,
  type DatasetSpec,
  openProblemSource,
  writeSampleRows,
} from "../../lib/domains/index.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-samples-"));
afterAll(() => rmSync(folder, { recursive: true }));

const TRAINING = ["open-reasoner-zero", "taco", "apps", "if-rlvr", "i3-logic", "bfcl"] as const;

test.each(TRAINING)(
  "%s: five rows, none bad or left out, three or more to train on",
  async (kind) => {
    const path = (await writeSampleRows(kind, folder))!;
    expect(existsSync(path)).toBe(true);
    const { report, gold } = await checkDataset(kind, { kind, path } as DatasetSpec, { workers: 1 });
    expect(report).toMatchObject({ rows: 5, bad: [], leftOut: [], duplicates: [] });
    expect(gold!.unscored).toEqual([]);
    // IF-RLVR's rows have no answer; i3-logic's have the bare answer, not always in the form that the game asks for
    if (kind !== "if-rlvr" && kind !== "i3-logic") expect(gold).toMatchObject({ accepted: 5, rejected: [] });
    const source = await openProblemSource({ kind, path } as DatasetSpec, { seed: 0, ordinal: 0 });
    expect(new Set([0, 1, 2].map((i) => source.problem(i).question)).size).toBe(3);
  },
  60_000,
);

test("benchmarks have none", async () => {
  const others = (Object.keys(DATASETS) as DatasetKind[]).filter(
    (kind) => !(TRAINING as readonly string[]).includes(kind),
  );
  expect(await Promise.all(others.map((kind) => writeSampleRows(kind, folder)))).toEqual(
    others.map(() => undefined),
  );
});
