import { expect, test } from "vitest";
import type { ProblemSource } from "../../lib/data/index.ts";
import { Credits } from "../../lib/orchestration/credits.ts";
import { DomainSampler } from "../../lib/orchestration/domain-sampler.ts";
import { drawProblems, ProblemDrawer } from "../../lib/orchestration/problem-drawer.ts";
import { problemOf } from "./lines-books.ts";

const source = (domain: string): ProblemSource => ({
  domain,
  families: ["f"],
  problem: (index) => problemOf(domain, index),
  heldOut: (index) => problemOf(domain, index),
});
const SOURCES = new Map(["math", "code"].map((d) => [d, source(d)]));
const sampler = () => new DomainSampler({ weights: { math: 1, code: 1 }, seed: 5 });

const brief = (drawer: ProblemDrawer) => {
  const { group, domain, index } = drawer.next();
  return { group, domain, index };
};

test("numbers groups and takes each domain's problems in order", () => {
  const drawer = new ProblemDrawer(SOURCES, sampler(), 4);
  const drawn = Array.from({ length: 20 }, () => brief(drawer));
  expect(drawn.map((d) => d.group)).toEqual(Array.from({ length: 20 }, (_, i) => i));
  for (const domain of SOURCES.keys()) {
    const indices = drawn.filter((d) => d.domain === domain).map((d) => d.index);
    expect(indices).toEqual(indices.map((_, i) => i));
    expect(indices.length).toBeGreaterThan(3);
  }
});

test("goes on from where it was saved, outstanding groups first and under their old numbers", () => {
  const whole = new ProblemDrawer(SOURCES, sampler(), 4);
  const all = Array.from({ length: 12 }, () => brief(whole));
  const first = new ProblemDrawer(SOURCES, sampler(), 4);
  const firstSampler = sampler();
  for (let i = 0; i < 8; i++) {
    first.next();
    firstSampler.pick();
  }
  const outstanding = [all[5]!, all[7]!];
  const second = new ProblemDrawer(SOURCES, firstSampler, 4, first.saved(), outstanding);
  expect(second.drawn).toBe(6);
  expect([brief(second), brief(second)]).toEqual(outstanding);
  expect(second.drawn).toBe(8);
  expect([brief(second), brief(second)]).toEqual(all.slice(8, 10));
});

test("a ticket is announced when it is drawn, one per credit, and no more than the limit", async () => {
  const credits = new Credits(2);
  const announced: number[] = [];
  const drawer = new ProblemDrawer(SOURCES, sampler(), 4);
  const tickets = drawProblems(drawer, credits, 3, ({ group }) => announced.push(group));
  await tickets.next();
  await tickets.next();
  expect(announced).toEqual([0, 1]);
  credits.give(2);
  expect((await tickets.next()).value?.group).toBe(2);
  expect((await tickets.next()).done).toBe(true);
  expect(credits.free).toBe(1);
});
