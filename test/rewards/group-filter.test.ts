import { expect, test } from "vitest";
import { hasZeroAdvantage } from "../../lib/rewards/group-filter.ts";

test.each([
  ["all wrong, different lengths", [0, 0], [0, -0.75], { verdict: true, shaped: false, off: false }],
  ["all right, different lengths", [1, 1], [1, 0.9], { verdict: true, shaped: false, off: false }],
  ["all right, equal", [1, 1], [1, 1], { verdict: true, shaped: true, off: false }],
  ["mixed, evened out by the penalty", [1, 0.5], [0.5, 0.5], { verdict: false, shaped: true, off: false }],
  ["rounding apart", [0.3, 0.3], [0.3, 0.1 + 0.2], { verdict: true, shaped: true, off: false }],
  ["mixed", [1, 0], [1, 0], { verdict: false, shaped: false, off: false }],
])("%s", (_, scores, rewards, expected) => {
  for (const filter of ["verdict", "shaped", "off"] as const) {
    expect([filter, hasZeroAdvantage(scores, rewards, filter)]).toEqual([filter, expected[filter]]);
  }
});
