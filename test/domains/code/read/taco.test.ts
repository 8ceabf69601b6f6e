// Tests TACO's own parts: its sample rows, and the difficulties that it leaves out. programs.test.ts tests the rest.
import { expect, test } from "vitest";
import { taco } from "../../../../lib/domains/code/read/taco.ts";
import { readAs } from "../../../data/filtered.ts";

test("its sample rows are five easy problems, each with tests that its solution passes", async () => {
  const { kept, bad, leftOut } = await readAs({ kind: "taco" }, await taco.samples!.rows());
  expect([kept.length, bad, leftOut]).toEqual([5, {}, {}]);
  for (const { content, level, family, reference, gold } of kept) {
    const factor = Number(/print (\d) times its value/.exec(content)![1]);
    expect([family, level]).toEqual(["taco", 0]);
    expect(JSON.parse((reference as { input_output: string }).input_output)).toEqual({
      inputs: ["1\n", "-3\n"],
      outputs: [`${factor}\n`, `${-3 * factor}\n`],
    });
    expect(gold!()).toEqual([`\`\`\`python\nprint(${factor} * int(input()))\n\`\`\``]);
  }
});

test("HARD and VERY_HARD are left out unless the recipe says otherwise", async () => {
  const [row] = taco.samples!.rows() as Record<string, unknown>[];
  const rows = ["EASY", "HARD", "VERY_HARD"].map((difficulty) => ({
    ...row,
    question: difficulty,
    difficulty,
  }));
  const named = { kind: "taco", dropDifficulties: ["EASY"] } as const;
  expect((await readAs({ kind: "taco" }, rows)).kept.map(({ content }) => content)).toEqual(["EASY"]);
  expect((await readAs(named, rows)).kept.map(({ content }) => content)).toEqual(["HARD", "VERY_HARD"]);
});
