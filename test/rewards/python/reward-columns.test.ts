import { expect, test } from "vitest";
import { pythonMember } from "../../../lib/rewards/python/reward-columns.ts";
import { pythonCall } from "../../fixtures/python-pool.ts";

const call = pythonCall("/srv/rewards.py", "f");
const member = (reference: unknown, more: object = {}, text = "the text<|im_end|>") =>
  pythonMember({ reference: { prompt: "ask", verifier: "words", reference, ...more }, text }, call);

test("fields of a reference are columns; what TRL gives itself is not overwritten", () => {
  const found = member({ answer: "4", level: 2, completions: "mine", prompt: "mine" });
  expect(found.columns).toEqual({
    reference: { answer: "4", level: 2, completions: "mine", prompt: "mine" },
    answer: "4",
    level: 2,
  });
  expect(found).toMatchObject({ prompt: "ask", completion: "the text", isConversation: false });
  expect(member("plain").columns).toEqual({ reference: "plain" });
  expect(member(["a", "b"]).columns).toEqual({ reference: ["a", "b"] });
  expect(member(undefined).columns).toEqual({});
});

test("verl's arguments come from a row of verl's, or from an answer", () => {
  const row = { data_source: "gsm8k", reward_model: { ground_truth: "72" }, extra_info: { index: 3 } };
  expect(member(row).verl).toEqual({
    data_source: "gsm8k",
    solution_str: "the text",
    ground_truth: "72",
    extra_info: { index: 3 },
  });
  expect(member({ answer: "4" }).verl).toMatchObject({
    data_source: "words",
    ground_truth: "4",
    extra_info: {},
  });
  expect(member("plain").verl).toMatchObject({ ground_truth: "plain" });
});

test("the row's own columns come before what was read of it", () => {
  const columns = { answer: "#### 4", prompt: "mine", level: 1 };
  expect(member({ answer: "4", after: "####" }, { columns })).toMatchObject({
    columns: { reference: { answer: "4", after: "####" }, answer: "#### 4", after: "####", level: 1 },
    verl: { ground_truth: "#### 4" },
  });
});

test("a row with turns is a conversation", () => {
  const messages = [{ role: "user", content: "hello" }];
  expect(member(undefined, { messages })).toMatchObject({ prompt: messages, isConversation: true });
});
