import { expect, test } from "vitest";
import { type Page, query, SampleIndex } from "../../lib/samples/index.ts";
import { ConstructedRun } from "./constructed-run.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const folder = temporaryFolder();

test("orders and pages; what was not scored comes last", async () => {
  {
    using run = new ConstructedRun(folder.path);
    run.step({
      said: [
        { text: "a", reward: 0.5, tokens: 3 },
        { text: "b", status: "unscored", tokens: 4 },
      ],
    });
    run.step({
      said: [
        { text: "c", reward: -1, tokens: 9 },
        { text: "d", reward: 1, tokens: 3 },
        { text: "e", status: "unscored", tokens: 1 },
      ],
    });
  }
  const index = await SampleIndex.open(folder.path);
  const names = "abcde";
  const asked = (page: Page) =>
    query(index, {}, page)
      .samples.map(({ row }) => names[row])
      .join("");
  expect(asked({})).toBe("edcba");
  expect(asked({ order: "oldest" })).toBe("abcde");
  expect(asked({ order: "longest" })).toBe("cbdae");
  expect(asked({ order: "shortest" })).toBe("edabc");
  expect(asked({ order: "best" })).toBe("daceb");
  expect(asked({ order: "worst" })).toBe("cadeb");
  expect(asked({ offset: 1, limit: 2 })).toBe("dc");
  expect(query(index, { steps: [2, 2] }, { limit: 1 })).toMatchObject({ total: 3, samples: [{ step: 2 }] });
  expect(asked({ offset: 9 })).toBe("");
});
