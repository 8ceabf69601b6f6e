import { describe, expect, test } from "vitest";
import { committedLetter } from "../../../lib/domains/choice/strict.ts";

describe("strict reads", () => {
  test.each<[string, string | undefined]>([
    ["The answer is (B). Wait, the answer is C.", "C"],
    ["Answer: **C**", "C"],
    ["**Answer:** C", "C"],
    ["The final answer is: \\boxed{\\text{D}}.", "D"],
    ["ANSWER: D", "D"],
    ["\\boxed{(E)}", "E"],
    ["$\\boxed{F}$ is what I choose, not G", "F"],
    ["The answer is A, because", "A"],
    ["The answer is A because", undefined],
    ["The answer is (A) because", "A"],
    ["The answer is I think B", undefined],
    ["The answer is H because", "H"],
    ["The answer is Bismuth", undefined],
    ["The answer isn't B", undefined],
    ["I choose A or B", undefined],
    [" (C). ", "C"],
    ["**G**", "G"],
    ["C and D", undefined],
    ["answer is K", undefined],
    ["the answer should be (C)", "C"],
    ["option C is correct", "C"],
    ["**Final Answer** (C)", "C"],
    ["**Final Answer**\n\n(C)", "C"],
    ["**Final Answer:** C", "C"],
    ["## Final Answer\nC", "C"],
    ["Therefore, Option (C) is correct.", "C"],
    ["C or D", undefined],
    ["The answer is C or D", undefined],
    ["The answer is (C) or (D).", undefined],
    ["\\boxed{C \\text{ or } D}", undefined],
    ["\\boxed{C, D}", undefined],
    ["The answer is C/D", undefined],
    ["The answer is C and D is wrong", "C"],
    ["The answer must be C.", "C"],
    ["The correct option is (C).", "C"],
    ["The correct choice would be C", "C"],
    ["the best answer is C", "C"],
    ["(C) is the correct answer.", "C"],
    ["**C** is correct", "C"],
    ["C is the right choice.", "C"],
    ["Option C is not correct", undefined],
    ["Option C is incorrect", undefined],
    ["If option C is correct, then x", undefined],
    ["It is not true that option C is correct.", undefined],
    ["Some claim that option C is correct.", undefined],
    ["Option C isn't correct", undefined],
    ["I think option C is correct.", "C"],
    ["We see that option C is correct, so done.", "C"],
    ["Is option C correct?", undefined],
    ["option C is correct? no", undefined],
    ["The answer is option C", "C"],
    ["The answer is choice (C)", "C"],
    ["The answer is either C or D", undefined],
    ["The answer is not C", undefined],
    ["The answer should not be C", undefined],
    ["The answer is B. Actually the answer should be C", "C"],
    ["Option B is correct. Hmm, no: option C is correct.", "C"],
    ["The answer is C, I think.", "C"],
    ["The answer is C, D being wrong", "C"],
    ["Options A and C are correct", undefined],
    ["the answer could be C", undefined],
    ["final answer: C", "C"],
    ["My final answer is C.", "C"],
    ["The answer is C or, equivalently, D", "C"],
    ["Vitamin C is correct for this", undefined],
    ["plan B is best.", undefined],
    ["Option A is correct because", "A"],
    ["option C is correct about the first part", undefined],
    ["Neither option C is correct nor D", undefined],
    ["A is the correct option.", "A"],
    ["The answer is (C), not (D).", "C"],
    ["The correct letter is C", "C"],
    ["Choice C must be correct!", "C"],
    ["The answer would be \\(\\boxed{C}\\)", "C"],
    ["Answer: C and D", undefined],
    ["Answer: C; Answer: D or E", undefined],
    ["Answer: C\nD", "C"],
    ["Answer: C & D", undefined],
  ])("%j as %j", (response, letter) => {
    expect(committedLetter(response)).toBe(letter);
  });

  /** Every way to choose with every way to write a letter; the same ways with a second letter, or denied, choose none. */
  const LETTERS = ["(C)", "C", "**C**", "**(C)**", "$C$", "\\textbf{C}", "[C]"];
  const CHOOSE = [
    "The answer is @.",
    "So the answer should be @.",
    "The answer must be @",
    "Answer: @",
    "**Answer:** @",
    "The correct option is @.",
    "The final answer is @.",
    "**Final Answer** @",
    "### Final Answer\n@",
    "The best choice would be @.",
    "The answer is option @.",
  ];
  const JUDGE = ["option @ is correct", "Thus option @ is the correct answer.", "Choice @ must be right."];
  const JUDGED = JUDGE.map((form) => form.replace("must be right", "must be the right one"));
  const DENY = [
    "The answer is not @.",
    "The answer should not be @.",
    "If option @ is correct, then so be it.",
    "Option @ is not correct.",
    "Option @ is incorrect.",
    "It could be @.",
    "The answer is neither @ nor D.",
    "I doubt that option @ is correct.",
    "Is the answer @?",
  ];
  const fill = (form: string, letter: string) => form.replace("@", () => letter);

  test.each(LETTERS)("%s in every way of choosing", (letter) => {
    const forms = letter.startsWith("\\") ? CHOOSE : [...CHOOSE, ...JUDGE, ...JUDGED];
    expect(forms.filter((form) => committedLetter(fill(form, letter)) !== "C")).toEqual([]);
    expect(DENY.filter((form) => committedLetter(fill(form, letter)) !== undefined)).toEqual([]);
    const two = ["or D", "or (D)", "/ D", `and ${letter.replace("C", "D")}`];
    const hedged = CHOOSE.flatMap((form) => two.map((other) => fill(form, `${letter} ${other}`)));
    expect(hedged.filter((text) => committedLetter(text) !== undefined)).toEqual([]);
  });
});

test.each([
  ["answer:", " "],
  ["answer is ", "("],
  ["", "answer "],
  ["", "\\boxed{"],
  ["Answer", "\t"],
  ["", "answer: \n"],
  ["answer is ", "\\text{"],
  ["", "A_"],
  ["", "A is "],
  ["", "option "],
  ["", "option C is correct. "],
  ["", "(C)*"],
])("a megabyte of %j and %j takes no longer than its length", (head, unit) => {
  const response = head + unit.repeat(1_000_000 / unit.length);
  const begun = process.cpuUsage();
  committedLetter(response);
  expect(process.cpuUsage(begun).user).toBeLessThan(10e6); // microseconds; quadratic time would take minutes
});
