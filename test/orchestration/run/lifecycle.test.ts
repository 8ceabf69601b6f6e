import { expect, test } from "vitest";
import { Lifecycle } from "../../../lib/orchestration/run/lifecycle.ts";
import { deferred } from "../../../lib/shared/async/deferred.ts";

const training = { isIdle: false };
const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

test("what is asked while no step can run is done at once", async () => {
  const life = new Lifecycle<typeof training>();
  expect(life.training).toBeUndefined();
  expect(await life.betweenSteps(async () => "before")).toBe("before");
  life.beginTraining(training);
  const inHook = life.inHook("afterStep", () => life.betweenSteps(async () => life.stage));
  expect(await inHook).toEqual({ at: "hook", hook: "afterStep", training });
  await life.end();
  expect(await life.betweenSteps(async () => "after")).toBe("after");
  expect(life.training).toBe(training);
});

test("what is asked in a step is done when it has ended, in order, and each is told its own end", async () => {
  const life = new Lifecycle<typeof training>();
  life.beginTraining(training);
  const done: number[] = [];
  const asked = [1, 2, 3].map((n) =>
    life.betweenSteps(async () => {
      if (n === 2) throw new Error("no room");
      await soon();
      return done.push(n);
    }),
  );
  const ends = Promise.allSettled(asked);
  await soon();
  expect(done).toEqual([]);
  await life.serve();
  expect(done).toEqual([1, 3]);
  expect((await ends).map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
});

test("what is asked while the trainer waits for a batch is done at once", async () => {
  const life = new Lifecycle<{ isIdle: boolean }>();
  life.beginTraining({ isIdle: true });
  expect(await life.betweenSteps(async () => "idle")).toBe("idle");
});

test("the end serves what still waits", async () => {
  const life = new Lifecycle<typeof training>();
  life.beginTraining(training);
  const asked = life.betweenSteps(async () => life.stage.at);
  await life.end();
  expect(await asked).toBe("over");
});

test("a run that fails refuses what still waits, with its error", async () => {
  const life = new Lifecycle<typeof training>();
  life.beginTraining(training);
  const asked = life.betweenSteps(async () => "served");
  life.fail(new Error("disk full"));
  await expect(asked).rejects.toThrow("disk full");
  expect(life.stage).toEqual({ at: "over", training });
});

test("a hook that throws gives the stage back", async () => {
  const life = new Lifecycle<typeof training>();
  await expect(life.inHook("beforeTraining", () => Promise.reject(new Error("mine")))).rejects.toThrow(
    "mine",
  );
  expect(life.stage).toEqual({ at: "preparing" });
});

test("a hook that returns after the end does not bring the run back", async () => {
  const lifecycle = new Lifecycle<{ readonly isIdle: boolean }>();
  const { promise: hook, resolve: leave } = deferred<void>();
  lifecycle.beginTraining({ isIdle: false });
  const held = lifecycle.inHook("afterStep", () => hook);
  await lifecycle.end();
  leave();
  await held;
  expect(lifecycle.stage.at).toBe("over");
  expect(await lifecycle.betweenSteps(async () => "served")).toBe("served");
});
