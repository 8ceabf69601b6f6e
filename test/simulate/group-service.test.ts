import { expect, test } from "vitest";
import type { SubmittedGroup } from "../../lib/simulate/attempt.ts";
import { GroupService } from "../../lib/simulate/group-service.ts";
import { SharedCores } from "../../lib/simulate/shared-cores.ts";
import { Timeline } from "../../lib/simulate/timeline.ts";

const queueOf = (count: number) => {
  const groups = Array.from({ length: count }, (_, i) => ({ left: i }) as SubmittedGroup);
  return () => groups.shift();
};
const all = () => true;

test("an engine that shares nothing has its groups at once", () => {
  const service = new GroupService(queueOf(2));
  expect([service.pull(all)?.left, service.pull(all)?.left, service.pull(all)]).toEqual([0, 1, undefined]);
  expect(service.busy).toBe(false);
});

test("one of several processes has them one after the other, each after its time", async () => {
  const timeline = new Timeline();
  const shared = { cores: 2, engine: 1, trainer: 1, perGroup: 3, service: 1, update: 0 };
  const cores = new SharedCores(shared, timeline, []);
  const service = new GroupService(queueOf(2), () => cores);
  const came: [number, number][] = [];
  service.onReady = () => {
    expect(service.busy).toBe(false);
    came.push([service.pull(all)!.left, timeline.seconds]);
  };
  expect(service.pull(all)).toBeUndefined();
  expect(service.busy).toBe(true);
  await timeline.run(() => came.length === 2);
  expect(came).toEqual([
    [0, 3],
    [1, 6],
  ]);
  expect(service.pull(all)).toBeUndefined();
});
