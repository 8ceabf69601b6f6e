import { expect, test } from "vitest";
import {
  givenOf,
  givenRuns,
  loggedEpisode,
  loggedEpisodeSchema,
} from "../../../lib/orchestration/records/logged-episode.ts";
import { rolloutOf } from "../pipeline-accounting.ts";

test("an episode is logged as what was given before each further turn", () => {
  const { rollout } = rolloutOf([1], [10, 11, 12, 13, 14, 15], 1);
  const given = Uint8Array.of(0, 1, 1, 0, 1, 0);
  const verdict = { status: "correct", score: 1, reason: "" } as const;
  const episode = { given, givenText: [], turns: 3, toolCalls: 2, verdict };
  const logged = loggedEpisode({ ...rollout, finish: "turns" }, episode);
  expect(logged).toEqual({
    f: "turns",
    c: 2,
    o: [
      [1, 11, 12],
      [4, 14],
    ],
  });
  expect(loggedEpisodeSchema.parse(logged)).toEqual(logged);
  expect(() => loggedEpisodeSchema.parse({ ...logged, o: [[1]] })).toThrow();
});

test("runs and masks are the same thing written twice", () => {
  for (const mask of [[], [0], [1], [0, 1, 1, 0], [1, 1, 0, 1], [0, 0, 1]]) {
    const given = Uint8Array.from(mask);
    expect(givenOf(givenRuns(given), given.length)).toEqual(given);
  }
  expect(givenRuns(Uint8Array.of(0, 1, 1, 0, 1))).toEqual([1, 3, 4, 5]);
});
