import { expect, test } from "vitest";
import { PopulationTally } from "../../lib/simulate/population-tally.ts";
import { Timeline } from "../../lib/simulate/timeline.ts";

test("the mean number is over time, not over changes", async () => {
  const timeline = new Timeline();
  const tally = new PopulationTally(timeline);
  timeline.at(0, () => tally.come(4));
  timeline.at(1, () => tally.go(3, 1));
  timeline.at(9, () => tally.go(1, 9));
  timeline.at(10, () => {});
  await timeline.run(() => timeline.seconds >= 10);
  expect(tally.facts).toEqual({ population: (4 * 1 + 1 * 8) / 10, rate: 0.4, seconds: 12 / 4 });
});
