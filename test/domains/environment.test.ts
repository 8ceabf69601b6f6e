import { expect, test } from "vitest";
import { environmentName, isEnvironment, playedIn } from "../../lib/domains/index.ts";
import { problemOf } from "../orchestration/pipeline-accounting.ts";

test("problems name their environment as the judge and show its tools, unless they bring their own", () => {
  const tools = [{ type: "function", function: { name: "look" } }];
  const source = {
    domain: "mine",
    families: ["f"],
    problem: (index: number) => problemOf("mine", index),
    heldOut: (index: number) => ({ ...problemOf("mine", index), tools: "[]" }),
    heldOutCount: 4,
  };
  const played = playedIn(source, "mine", { tools });
  expect(played.problem(7)).toEqual({
    ...problemOf("mine", 7),
    verifier: environmentName("mine"),
    tools: JSON.stringify(tools),
  });
  expect([environmentName("mine"), "reward:mine"].map(isEnvironment)).toEqual([true, false]);
  expect(played.heldOut(1).tools).toBe("[]");
  expect(played.heldOutCount).toBe(4);
  expect(playedIn(source, "mine", {}).problem(0)).not.toHaveProperty("tools");
});
