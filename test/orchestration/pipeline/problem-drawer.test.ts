import { expect, test } from "vitest";
import type { ProblemSource } from "../../../lib/data/index.ts";
import { HoneError } from "../../../lib/errors.ts";
import { Credits } from "../../../lib/orchestration/pipeline/credits.ts";
import { DomainSampler } from "../../../lib/orchestration/pipeline/domain-sampler.ts";
import type { DrawnGroup } from "../../../lib/orchestration/pipeline/group-request.ts";
import { drawProblems, ProblemDrawer } from "../../../lib/orchestration/pipeline/problem-drawer.ts";
import type { Problem } from "../../../lib/records.ts";
import { problemOf } from "../pipeline-accounting.ts";

const source = (domain: string): ProblemSource => ({
  domain,
  families: ["f"],
  problem: (index) => problemOf(domain, index),
  heldOut: (index) => problemOf(domain, index),
});
const SOURCES = new Map(["math", "code"].map((d) => [d, source(d)]));
const sampler = () => new DomainSampler({ weights: { math: 1, code: 1 }, seed: 5 });

const FOUR = { groupSize: 4 };

const brief = (drawer: ProblemDrawer) => {
  const { group, domain, index } = drawer.next();
  return { group, domain, index };
};

test("numbers groups and takes each domain's problems in order", () => {
  const drawer = new ProblemDrawer(SOURCES, sampler(), FOUR);
  const drawn = Array.from({ length: 20 }, () => brief(drawer));
  expect(drawn.map((d) => d.group)).toEqual(Array.from({ length: 20 }, (_, i) => i));
  for (const domain of SOURCES.keys()) {
    const indices = drawn.filter((d) => d.domain === domain).map((d) => d.index);
    expect(indices).toEqual(indices.map((_, i) => i));
    expect(indices.length).toBeGreaterThan(3);
  }
});

test("goes on from where it was saved, outstanding groups first and under their old numbers", () => {
  const whole = new ProblemDrawer(SOURCES, sampler(), FOUR);
  const all = Array.from({ length: 12 }, () => brief(whole));
  const first = new ProblemDrawer(SOURCES, sampler(), FOUR);
  const firstSampler = sampler();
  for (let i = 0; i < 8; i++) {
    first.next();
    firstSampler.pick();
  }
  const outstanding = [all[5]!, all[7]!];
  const second = new ProblemDrawer(SOURCES, firstSampler, FOUR, { draws: first.saved(), outstanding });
  expect(second.drawn).toBe(6);
  expect([brief(second), brief(second)]).toEqual(outstanding);
  expect(second.drawn).toBe(8);
  expect([brief(second), brief(second)]).toEqual(all.slice(8, 10));
});

test("a group is submitted when it is drawn, one per credit, and no more than the limit", async () => {
  const credits = new Credits(2);
  const submitted: number[] = [];
  const note = (drawn: DrawnGroup) => {
    submitted.push(drawn.group);
    return { ...drawn, submittedVersion: 0, submittedMs: 0 };
  };
  const drawer = new ProblemDrawer(SOURCES, sampler(), FOUR);
  const requests = drawProblems(drawer, { credits, submitted: note }, 3);
  await requests.next();
  await requests.next();
  expect(submitted).toEqual([0, 1]);
  credits.give(2);
  expect((await requests.next()).value?.group).toBe(2);
  expect((await requests.next()).done).toBe(true);
  expect(credits.free).toBe(1);
});

test("a problem that cannot be asked is passed over and counted, also by a drawer that goes on", () => {
  const told: number[] = [];
  const fault = new HoneError("HONE_ERR_DATA", "too long");
  const options = {
    groupSize: 4,
    faultOf: ({ domain, id }: Problem) => (domain === "math" && id % 3 === 1 ? fault : undefined),
    onLeftOut: ({ id }: Problem) => told.push(id),
  };
  const whole = new ProblemDrawer(SOURCES, sampler(), options);
  const all = Array.from({ length: 20 }, () => brief(whole));
  const indices = all.filter(({ domain }) => domain === "math").map(({ index }) => index);
  expect(indices).toEqual(indices.map((_, i) => i + Math.floor((i + 1) / 2)));
  expect(whole.leftOut).toEqual({ math: told.length });
  expect(told).toEqual(told.map((_, i) => 3 * i + 1));
  const first = new ProblemDrawer(SOURCES, sampler(), options);
  const itsSampler = sampler();
  for (let i = 0; i < 12; i++) {
    first.next();
    itsSampler.pick();
  }
  const second = new ProblemDrawer(SOURCES, itsSampler, options, { draws: first.saved(), outstanding: [] });
  expect(Array.from({ length: 8 }, () => brief(second))).toEqual(all.slice(12));
  expect(second.leftOut).toEqual(whole.leftOut);
});

test("a thousand problems in a row that cannot be asked end it, with the last one's reason", () => {
  const fault = new HoneError("HONE_ERR_DATA", "takes 9 tokens");
  const drawer = new ProblemDrawer(SOURCES, sampler(), { groupSize: 4, faultOf: () => fault });
  expect(() => drawer.next()).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringContaining("takes 9 tokens") }),
  );
});
