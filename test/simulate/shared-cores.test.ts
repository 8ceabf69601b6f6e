import { expect, test } from "vitest";
import { SharedCores } from "../../lib/simulate/shared-cores.ts";
import { Timeline } from "../../lib/simulate/timeline.ts";

const shared = { cores: 2, engine: 1, trainer: 1, perGroup: 3, service: 1, update: 0.5 };

function coresOf(change: Partial<typeof shared> = {}) {
  const timeline = new Timeline();
  const speeds: number[] = [];
  const cores = new SharedCores({ ...shared, ...change }, timeline, [
    { setSpeed: (speed) => speeds.push(speed) },
  ]);
  return { timeline, speeds, cores };
}

test("while no more is wanted than there is, work takes its time", async () => {
  const { timeline, speeds, cores } = coresOf();
  let done = -1;
  cores.engine(1);
  void cores.train(4, 2).then(() => {
    done = timeline.seconds;
  });
  await timeline.run(() => done >= 0);
  expect(done).toBeCloseTo(5, 12); // four seconds, and half a second for each engine's weights
  expect(speeds).toEqual([]);
});

test("beyond that all are slowed alike, and only for as long", async () => {
  const { timeline, speeds, cores } = coresOf();
  const ends: Record<string, number> = {};
  cores.engine(1);
  cores.engine(1);
  cores.serve(() => {
    ends["served"] = timeline.seconds;
  });
  void cores.train(6, 0).then(() => {
    ends["trained"] = timeline.seconds;
  });
  await timeline.run(() => "trained" in ends);
  // four jobs share two cores, so three seconds of service take six; then three jobs share them, with three seconds of
  // training left
  expect(ends["served"]).toBeCloseTo(6, 12);
  expect(ends["trained"]).toBeCloseTo(6 + 3 / (2 / 3), 12);
  expect(speeds.map((speed) => Number(speed.toFixed(4)))).toEqual([0.6667, 0.5, 0.6667, 1]);
});

test("groups of all engines are served one after the other, so that more engines crowd out nobody's step", async () => {
  const { timeline, cores } = coresOf();
  const ends: number[] = [];
  for (let i = 0; i < 3; i++) cores.serve(() => ends.push(timeline.seconds));
  let trained = -1;
  void cores.train(8, 0).then(() => {
    trained = timeline.seconds;
  });
  await timeline.run(() => ends.length === 3);
  expect(ends).toEqual([3, 6, 9]);
  expect(trained).toBe(8);
});

test("who is served may ask for the next at once, behind who waits", async () => {
  const { timeline, cores } = coresOf();
  const ends: [string, number][] = [];
  const end = (name: string) => () => {
    ends.push([name, timeline.seconds]);
    if (name === "first") cores.serve(end("again"));
  };
  cores.serve(end("first"));
  cores.serve(end("second"));
  await timeline.run(() => ends.length === 3);
  expect(ends).toEqual([
    ["first", 3],
    ["second", 6],
    ["again", 9],
  ]);
});
