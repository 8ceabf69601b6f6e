import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { info, Trainer } from "../../../lib/native/index.ts";
import { weightsHash } from "../../../lib/orchestration/recovery/weights-hash.ts";
import { communicatorPair } from "../../native/processes.ts";
import { modelConfig, trainerOptions } from "../../native/small-model.ts";
import { StandInTrainer } from "../stand-in-core.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-hash-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test("the hash of a checkpoint is of its weights, not of what else it says", async () => {
  const trainer = new StandInTrainer({});
  await trainer.save(join(dir, "a"), "one");
  await trainer.save(join(dir, "b"), "two");
  trainer.word = 1;
  await trainer.save(join(dir, "c"), "one");
  const [a, b, c] = ["a", "b", "c"].map((name) => weightsHash(join(dir, name)));
  expect(a).toBe(b);
  expect(c).not.toBe(a);
  expect(() => weightsHash(join(dir, "d"))).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_CHECKPOINT" }),
  );
});

test.skipIf(info().gloo.version === null)("of weights in files of several ranks too", async () => {
  const pair = await communicatorPair();
  const ranks = pair.map((communicator) => {
    const sharding = { stage: "optimizer", communicator } as const;
    return new Trainer(modelConfig, { ...trainerOptions, sharding });
  });
  const alone = new Trainer(modelConfig, trainerOptions);
  for (const each of [...ranks, alone]) await each.initialize(3n);
  await alone.save(join(dir, "one"), "{}");
  await Promise.all(ranks.map((rank) => rank.save(join(dir, "two"), "{}")));
  const files = readdirSync(join(dir, "two")).filter((name) => /^model-.*safetensors$/.test(name));
  expect(files.length).toBeGreaterThan(1);
  expect(weightsHash(join(dir, "two"))).toBe(weightsHash(join(dir, "one")));
  const path = join(dir, "two", files[0]!);
  const bytes = readFileSync(path);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(path, bytes);
  expect(weightsHash(join(dir, "two"))).not.toBe(weightsHash(join(dir, "one")));
  await Promise.all([alone, ...ranks].map((each) => each.close()));
  await Promise.all(pair.map((group) => group.close()));
});
