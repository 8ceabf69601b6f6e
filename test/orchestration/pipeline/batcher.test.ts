import { expect, test } from "vitest";
import { type BatchRule, batchGroups } from "../../../lib/orchestration/pipeline/batcher.ts";
import type { GroupRequest } from "../../../lib/orchestration/pipeline/group-request.ts";
import type { SettledGroup } from "../../../lib/orchestration/pipeline/grouper.ts";
import { OutstandingGroups } from "../../../lib/orchestration/pipeline/outstanding-groups.ts";
import { Channel } from "../../../lib/shared/async/channel.ts";
import { requestOf } from "../pipeline-accounting.ts";

const settledOf = (request: GroupRequest, dropped?: "zero-advantage"): SettledGroup => ({
  request,
  group: {
    problem: request.problem,
    rollouts: [],
    solveRate: 0,
    submittedVersion: 0,
    ...(dropped && { dropped }),
  },
  rollouts: [],
  unscored: [],
});

function bench(rule: Partial<BatchRule>, requests: readonly GroupRequest[]) {
  const outstanding = new OutstandingGroups();
  for (const request of requests) outstanding.add(request);
  const groups = new Channel<SettledGroup>();
  const state = { version: 0, released: 0 };
  const batches = batchGroups(
    groups,
    { groupsPerStep: 2, countGroups: "completed", maxLag: 1, schedule: "async", ...rule },
    {
      get outstanding() {
        return outstanding.size;
      },
      due: (maxLag, groupsPerStep) => outstanding.due(state.version, maxLag, groupsPerStep),
      firstDue: (...rule) => outstanding.firstDue(state.version, ...rule),
      settled: ({ request }) => outstanding.remove(request.group),
      batched: () => {},
      credits: {
        give: (n) => {
          state.released += n;
        },
      },
    },
  );
  const complete = (group: number, dropped?: "zero-advantage") =>
    groups.push(settledOf(requests.find((t) => t.group === group)!, dropped));
  const next = async () => (await batches.next()).value?.groups.map(({ request }) => request.group);
  return { complete, next, state, groups };
}

test("takes the first P that completed, in the order of their numbers", async () => {
  const { complete, next } = bench(
    { maxLag: 5 },
    [0, 1, 2, 3].map((g) => requestOf(g, 0)),
  );
  complete(3);
  complete(1);
  complete(0);
  expect(await next()).toEqual([1, 3]);
});

test("waits for the group that is due although others are ready", async () => {
  const { complete, next, state } = bench({}, [requestOf(0, 0), requestOf(1, 1), requestOf(2, 1)]);
  state.version = 1;
  complete(1);
  complete(2);
  let ready = false;
  const batch = next().then((groups) => {
    ready = true;
    return groups;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(ready).toBe(false);
  complete(0);
  expect(await batch).toEqual([0, 1]);
});

test("a group that is due no more, since another was filtered, is waited for no longer", async () => {
  const { complete, next, state } = bench(
    { countGroups: "kept" },
    [0, 1, 2, 3].map((g) => requestOf(g, 1)),
  );
  state.version = 1;
  const batch = next();
  // Four groups can train in this step or the next; groups 0 and 1 are due now.
  complete(0);
  complete(2);
  await new Promise((resolve) => setImmediate(resolve));
  complete(3, "zero-advantage");
  expect(await batch).toEqual([0, 2, 3]);
});

test("counting kept groups, filtered ones give their credit back at once and are still reported", async () => {
  const { complete, next, state } = bench(
    { countGroups: "kept", maxLag: 5 },
    [0, 1, 2].map((g) => requestOf(g, 0)),
  );
  complete(0, "zero-advantage");
  complete(1);
  complete(2);
  expect(await next()).toEqual([0, 1, 2]);
  expect(state.released).toBe(1);
});

test("in rounds, filtered groups are released only when nothing else is outstanding", async () => {
  const { complete, next, state, groups } = bench(
    { countGroups: "kept", maxLag: 0, schedule: "sync" },
    [0, 1].map((g) => requestOf(g, 0)),
  );
  complete(0, "zero-advantage");
  const batch = next();
  await new Promise((resolve) => setImmediate(resolve));
  expect(state.released).toBe(0);
  complete(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(state.released).toBe(1);
  groups.end();
  expect(await batch).toBeUndefined();
});

test("ends with what it waits for, when the groups end", async () => {
  const { next, groups, complete } = bench({}, [requestOf(0, 0), requestOf(1, 0)]);
  complete(0);
  groups.end();
  expect(await next()).toBeUndefined();
});
