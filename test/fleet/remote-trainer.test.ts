import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import { REGISTERS, SETTINGS, STREAMS } from "../../lib/fleet/names.ts";
import { TrainerRanks } from "../../lib/fleet/remote-trainer.ts";
import { runTrainer } from "../../lib/fleet/trainer-role.ts";
import type { TrainerFace } from "../../lib/native/face.ts";
import { openStore, type StreamStore } from "../../lib/streams/index.ts";
import { type StandInTrainer, standInCore } from "../orchestration/stand-in-core.ts";
import { BATCH, OPTIMIZER, STEP, TRAINER } from "./small-engine.ts";

let dir: string;
let store: StreamStore;
const stops: AbortController[] = [];
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "hone-ranks-"));
  store = await openStore("memory:", { run: "test" });
});
afterEach(async () => {
  for (const stop of stops.splice(0)) stop.abort();
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

/** Starts a rank in this process; the test may inspect and change its trainers. */
function startRank(epoch: number, rank = 0, spoil: (trainer: TrainerFace) => void = () => {}) {
  const stop = new AbortController();
  stops.push(stop);
  const core = standInCore();
  const open = (...args: Parameters<typeof core.trainer>) => {
    const trainer = core.trainer(...args);
    spoil(trainer);
    return trainer;
  };
  const sent: number[] = [];
  const transport = {
    send: async ({ update }: { update: number }) => void sent.push(update),
    close: async () => {},
  };
  void store.kv.set(REGISTERS.epoch, String(epoch));
  const ended = runTrainer({
    store,
    open,
    transport,
    rank,
    epoch,
    settings: { ...SETTINGS, beatMs: 20 },
    signal: stop.signal,
  });
  ended.catch(() => {}); // a test that needs the error awaits `ended`
  return { core, stop, ended, sent };
}

const word = ({ core }: ReturnType<typeof startRank>): number => (core.trainers[0] as StandInTrainer).word;

test("a trainer in another process does what one of this process does", async () => {
  const ranks = new TrainerRanks(store, join(dir, "own"));
  const rank = startRank(1);
  ranks.form(1);
  const { trainer, send, senders } = ranks.open("{}", TRAINER);
  const here = standInCore().trainer("{}", TRAINER);
  for (const each of [trainer, here]) {
    await each.initialize(2n ** 63n);
    await each.resetOptimizer({ ...OPTIMIZER, seed: 5n });
    expect(await each.step(BATCH, STEP)).toEqual(
      await here.step.call(standInCore().trainer("{}", TRAINER), BATCH, STEP),
    );
    expect(each.version).toBe(1);
  }
  expect(await trainer.parameter("x")).toEqual(await here.parameter("x"));
  expect(await trainer.score(BATCH, 1)).toEqual(await here.score(BATCH, 1));
  expect(await trainer.gradientParts(BATCH, STEP, Int32Array.of(0, 1), 2)).toEqual(
    await here.gradientParts(BATCH, STEP, Int32Array.of(0, 1), 2),
  );
  await trainer.save(join(dir, "a"), '{"extra":1}');
  await trainer.setVersion(9);
  expect(await trainer.load(join(dir, "a"))).toBe('{"extra":1}');
  expect(trainer.version).toBe(1);
  const to = (sender: string) => ({
    update: 4,
    engine: "e",
    version: 1,
    way: "folder" as const,
    withinMs: 1000,
    groups: [{ number: 0, sender, members: [] }],
  });
  expect(await senders()).toEqual([{ name: "trainer.0#1", host: hostname() }]);
  await send(to("trainer.0#1"));
  expect(rank.sent).toEqual([4]);
  await expect(send(to("trainer.0#2"))).rejects.toMatchObject({ code: "HONE_ERR_COLLECTIVE" });
});

test.each([
  ["with all calls since it was opened", false],
  ["with the last checkpoint and the calls since then", true],
])("new ranks go on where the old ones were, %s", async (_, saves) => {
  const ranks = new TrainerRanks(store, join(dir, "own"));
  const first = startRank(1);
  ranks.form(1);
  const { trainer } = ranks.open("{}", TRAINER);
  await trainer.initialize(7n);
  await trainer.step(BATCH, STEP);
  if (saves) await trainer.save(join(dir, "a"), "{}");
  await trainer.step(BATCH, { ...STEP, lr: 2e-3 });
  first.stop.abort();
  await first.ended;
  const during = trainer.step(BATCH, { ...STEP, lr: 3e-3 });
  const second = startRank(2);
  ranks.form(2);
  await during;
  expect(trainer.version).toBe(3);
  expect(second.core.trainers[0]!.steps, "steps that were done again").toHaveLength(saves ? 2 : 3);
  const whole = standInCore().trainer("{}", TRAINER) as StandInTrainer;
  await whole.initialize(7n);
  for (const lr of [1e-3, 2e-3, 3e-3]) await whole.step(BATCH, { ...STEP, lr });
  expect(word(second)).toBe(whole.word);
});

test("ranks that go on from a checkpoint are given the teacher's head again", async () => {
  const ranks = new TrainerRanks(store, join(dir, "own"));
  const first = startRank(1);
  ranks.form(1);
  const { trainer } = ranks.open("{}", TRAINER);
  await trainer.initialize(7n);
  await trainer.setTeacherHead({ weights: Float32Array.of(1, 2), width: 1, softcap: 0 });
  await trainer.step(BATCH, STEP);
  await trainer.save(join(dir, "a"), "{}");
  first.stop.abort();
  await first.ended;
  const heads: Float32Array[] = [];
  startRank(2, 0, (spoilt) => {
    spoilt.setTeacherHead = async ({ weights }) => void heads.push(weights);
  });
  const during = trainer.step(BATCH, STEP);
  ranks.form(2);
  await during;
  expect(heads).toEqual([Float32Array.of(1, 2)]);
});

/** Makes a trainer's disk wait for the test. */
function slowDisk() {
  const asked: ((answer: Promise<void>) => void)[] = [];
  const spoil = (trainer: TrainerFace) => {
    const { stage, written } = trainer;
    let inTime: Promise<void> = Promise.resolve();
    trainer.stage = async (...args) => {
      await stage.apply(trainer, args);
      inTime = new Promise((resolve) => asked.push(resolve));
    };
    trainer.written = () => Promise.all([written.call(trainer), inTime]).then(() => {});
  };
  return { asked, spoil };
}

test("ranks that are formed at the moment of an answer have the call that was answered", async () => {
  const ranks = new TrainerRanks(store, join(dir, "own"));
  const read = store.read.bind(store);
  let isDue = false;
  store.read = async (stream, ...rest) => {
    const entries = await read(stream, ...rest);
    if (stream !== STREAMS.replies(1)) return entries;
    return Object.assign([...entries], {
      *[Symbol.iterator]() {
        for (const entry of entries) {
          yield entry; // the generator resumes when the reader asks for the next entry
          if (isDue) ranks.form(2);
        }
      },
    });
  };
  startRank(1);
  ranks.form(1);
  const { trainer } = ranks.open("{}", TRAINER);
  await trainer.initialize(7n);
  isDue = true;
  await trainer.step(BATCH, STEP);
  isDue = false;
  const second = startRank(2);
  await trainer.parameter("x");
  expect(second.core.trainers[0]!.steps).toHaveLength(1);
});

test("steps go on while a checkpoint is written; when it is there the calls before it are forgotten", async () => {
  const ranks = new TrainerRanks(store, join(dir, "own"));
  const { asked, spoil } = slowDisk();
  startRank(1, 0, spoil);
  ranks.form(1);
  const { trainer } = ranks.open("{}", TRAINER);
  await trainer.initialize(7n);
  await trainer.step(BATCH, STEP);
  await trainer.stage(join(dir, "a"), "{}");
  let done = false;
  const written = trainer.written().then(() => (done = true));
  await trainer.step(BATCH, { ...STEP, lr: 2e-3 });
  expect([trainer.version, done]).toEqual([2, false]);
  asked[0]!(Promise.resolve());
  await written;
  expect(trainer.version, "of the last step, and not of what was written").toBe(2);
  expect((await store.depth(STREAMS.commands(1))).items).toBeLessThanOrEqual(3);
  const second = startRank(2);
  ranks.form(2);
  await trainer.step(BATCH, { ...STEP, lr: 3e-3 });
  expect(second.core.trainers[0]!.steps, "steps that were done again").toHaveLength(2);
  const whole = standInCore().trainer("{}", TRAINER) as StandInTrainer;
  await whole.initialize(7n);
  for (const lr of [1e-3, 2e-3, 3e-3]) await whole.step(BATCH, { ...STEP, lr });
  expect(word(second)).toBe(whole.word);
});

test("ranks that end while they write are followed by some that write the same state again", async () => {
  const ranks = new TrainerRanks(store, join(dir, "own"));
  const { spoil } = slowDisk();
  const first = startRank(1, 0, spoil);
  ranks.form(1);
  const { trainer } = ranks.open("{}", TRAINER);
  await trainer.initialize(7n);
  await trainer.step(BATCH, STEP);
  await trainer.stage(join(dir, "a"), "{}");
  const written = trainer.written();
  await trainer.step(BATCH, { ...STEP, lr: 2e-3 });
  rmSync(join(dir, "a"), { recursive: true, force: true });
  first.stop.abort();
  await first.ended;
  const second = startRank(2);
  ranks.form(2);
  await written;
  const whole = standInCore().trainer("{}", TRAINER) as StandInTrainer;
  await whole.load(join(dir, "a"));
  expect(whole.version, "of the state that was staged").toBe(1);
  await whole.step(BATCH, { ...STEP, lr: 2e-3 });
  await trainer.setVersion(2);
  expect(word(second)).toBe(whole.word);
});

test("where a run saves nothing the ranks save for themselves, and logs of what is done are dropped", async () => {
  const ranks = new TrainerRanks(store, join(dir, "own"));
  startRank(1);
  ranks.form(1);
  const { trainer } = ranks.open("{}", TRAINER);
  await trainer.initialize(7n);
  for (let step = 0; step < 70; step++) await trainer.step(BATCH, STEP);
  expect((await store.depth(STREAMS.commands(1))).items).toBeLessThan(10);
  const second = startRank(2);
  ranks.form(2);
  await trainer.step(BATCH, STEP);
  expect(second.core.trainers[0]!.steps).toHaveLength(70 - 65 + 1);
  expect(trainer.version).toBe(71);
  expect((await store.depth(STREAMS.commands(1))).items).toBe(0);
  const whole = standInCore().trainer("{}", TRAINER) as StandInTrainer;
  await whole.initialize(7n);
  for (let step = 0; step < 71; step++) await whole.step(BATCH, STEP);
  expect(word(second)).toBe(whole.word);
});

test("a rank that lost another leaves, and says nothing of the call", async () => {
  const ranks = new TrainerRanks(store, join(dir, "own"));
  const spoiled = startRank(1, 0, (trainer) => {
    trainer.step = async () => {
      throw new HoneError("HONE_ERR_COLLECTIVE", "rank 1 is gone");
    };
  });
  ranks.form(1);
  const { trainer } = ranks.open("{}", TRAINER);
  const step = trainer.step(BATCH, STEP);
  await expect(spoiled.ended).rejects.toMatchObject({ code: "HONE_ERR_COLLECTIVE" });
  startRank(2);
  ranks.form(2);
  expect((await step).skipped).toBe(false);
});

test("what goes wrong on a rank is the call's error, whichever rank it was", async () => {
  const ranks = new TrainerRanks(store, join(dir, "own"));
  startRank(1);
  startRank(1, 1, (trainer) => {
    trainer.loadHf = async () => {
      throw new HoneError("HONE_ERR_IO", "no such folder", { hint: "look again" });
    };
    trainer.initialize = trainer.loadHf as never;
  });
  ranks.form(1);
  const { trainer } = ranks.open("{}", TRAINER);
  await expect(trainer.loadHf("/nowhere")).rejects.toThrow(HoneError);
});

test("ranks that end again and again without an answer end the run", async () => {
  const ranks = new TrainerRanks(store, join(dir, "own"));
  ranks.form(1);
  const { trainer } = ranks.open("{}", TRAINER);
  const step = trainer.step(BATCH, STEP);
  for (let epoch = 2; epoch < 8; epoch++) ranks.form(epoch);
  await expect(step).rejects.toMatchObject({ code: "HONE_ERR_STATE" });
});
