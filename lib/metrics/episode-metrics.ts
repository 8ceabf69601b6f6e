import { type MetricSheet, MomentsBy } from "./distribution.ts";
import type { StepFacts } from "./facts.ts";

/** Metrics of multi-turn rollouts: messages, calls of tools, calls read between turns, and why they ended. */
export function putEpisodeMetrics(sheet: MetricSheet, facts: StepFacts): void {
  const means = new MomentsBy<string>();
  for (const { rollout } of facts.groups.flatMap(({ rollouts }) => rollouts)) {
    const { episode, finish, problem } = rollout;
    if (episode === undefined) continue;
    const { given, turns, toolCalls } = episode;
    const of = { turns, "tool-calls": toolCalls, given: given.reduce((n, one) => n + one, 0) };
    for (const [name, value] of Object.entries(of)) means.add(`episode/${name}/${problem.domain}`, value);
    means.add(`episode/out-of-turns/${problem.domain}`, finish === "turns" ? 1 : 0);
  }
  for (const [name, moments] of means.entries()) sheet.put(name, moments.mean);
}
