import { expect, test } from "vitest";
import { SampleIndex, sampleGroups } from "../../lib/samples/index.ts";
import { ConstructedRun } from "./constructed-run.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();

test("groups of what passes a filter, in its order, with the numbers of the whole group", async () => {
  {
    using run = new ConstructedRun(folder.path);
    run.step(
      {
        problem: 1,
        said: [
          { text: "a", status: "correct", reward: 1, tokens: 3 },
          { text: "b", status: "wrong", reward: 0.25, tokens: 5 },
          { text: "c", status: "unscored", tokens: 7 },
        ],
      },
      { problem: 2, domain: "code", said: [{ text: "d", status: "wrong", reward: -1, tokens: 30 }] },
    );
    run.step({ problem: 1, said: [{ text: "e", status: "correct", reward: 2, tokens: 1 }] });
    run.step({ problem: 3, said: [{ text: "f", status: "unscored", tokens: 2 }] });
  }
  const index = await SampleIndex.open(folder.path);
  const all = await sampleGroups(index, {});
  expect([all.total, all.samples]).toEqual([4, 6]);
  expect(all.groups.map(({ step, domain }) => `${step} ${domain}`)).toEqual([
    "3 math",
    "2 math",
    "1 code",
    "1 math",
  ]);
  expect(all.groups.at(-1)).toMatchObject({
    problem: 1,
    members: 3,
    judged: 2,
    solved: 1,
    rewards: [0.25, 1],
    meanTokens: 5,
    rows: [0, 1, 2],
  });
  expect(all.groups[0]).not.toHaveProperty("rewards");
  const wrong = await sampleGroups(index, { statuses: ["wrong"] }, { order: "longest" });
  expect([wrong.total, wrong.samples]).toEqual([2, 2]);
  expect(wrong.groups.map(({ rows, members, solved }) => [rows, members, solved])).toEqual([
    [[3], 1, 0],
    [[1], 3, 1],
  ]);
  const second = await sampleGroups(index, {}, { order: "oldest", offset: 1, limit: 1 });
  expect(second.groups.map(({ domain }) => domain)).toEqual(["code"]);
});
