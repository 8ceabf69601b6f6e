import { expect, test } from "vitest";
import type { GroupEvent } from "../../../lib/orchestration/records/index.ts";
import { firstTurnPlans, RecordedEpisodes } from "../../../lib/orchestration/replay/recorded-episodes.ts";

/** Attempt 0 has turns [0, 2), [4, 7), [8, 10); attempt 1 has one turn. */
const group: GroupEvent = {
  e: "group",
  g: 5,
  r: [
    [0, 10, "x", 0, 3, 1, 4, 5, 6],
    [1, 4, "y", 0, 3],
  ],
  o: [
    {
      f: "turns",
      c: 1,
      o: [
        [2, 70, 71],
        [7, 72],
      ],
    },
    { f: "eos", c: 0, o: [] },
  ],
};
const make = () => new RecordedEpisodes(new Map(), new Map([[5, group]]));
const settled = async (promise: Promise<unknown>) => {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return done;
};

test("each turn is sampled with the versions that its tokens had", () => {
  expect(firstTurnPlans(group)).toEqual([
    [
      { fromToken: 0, version: 3 },
      { fromToken: 1, version: 4 },
    ],
    [{ fromToken: 0, version: 3 }],
  ]);
  const plan = make().planOf({ group: 5 }, 0);
  expect(plan(1)).toEqual([
    { fromToken: 0, version: 4 },
    { fromToken: 1, version: 6 },
  ]);
  expect(plan(2)).toEqual([{ fromToken: 0, version: 6 }]);
});

test("where a rollout was taken up, its plan has the keys computed anew", () => {
  const t = [
    [0, 5],
    [1, 2],
  ];
  expect(firstTurnPlans({ ...group, t })[1]).toEqual([
    { fromToken: 0, version: 3 },
    { fromToken: 2, version: 3, anew: true },
  ]);
  const taken = new RecordedEpisodes(new Map(), new Map([[5, { ...group, t }]]));
  expect(taken.planOf({ group: 5 }, 0)(1)).toEqual([
    { fromToken: 0, version: 4 },
    { fromToken: 1, version: 6, anew: true },
  ]);
  expect(taken.planOf({ group: 5 }, 0)(2)).toEqual([{ fromToken: 0, version: 6 }]);
});

test("what was given comes from the record, and then the episode ends as it did", async () => {
  const partner = make().partnerOf({} as never, { group: 5 }, 0);
  const turn = (n: number) => partner.answer({ turn: n, tokens: new Int32Array(1), ended: undefined });
  expect(await turn(0)).toEqual({ given: Int32Array.of(70, 71) });
  expect(await turn(1)).toEqual({ given: Int32Array.of(72) });
  expect(await turn(2)).toEqual({ over: "turns" });
  expect(partner.toolCalls).toBe(1);
});

test("new weights wait for the turns that begin with older ones, and not for those of an episode that is over", async () => {
  const episodes = make();
  expect(await settled(episodes.submitted(3))).toBe(true);
  const four = episodes.submitted(4);
  expect(await settled(four)).toBe(false);
  episodes.onTurn({ group: 5 }, 0, 1);
  expect(await settled(four)).toBe(true);
  const six = episodes.submitted(6);
  expect(await settled(six)).toBe(false);
  episodes.over(5);
  expect(await settled(six)).toBe(true);
});
