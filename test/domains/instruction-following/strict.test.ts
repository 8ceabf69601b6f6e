// Deliberate faults (mutants) that these tests detect: the published check is used, mode constraint judges blank
// responses.
import { expect, test } from "vitest";
import { CONSTRAINTS } from "../../../lib/domains/instruction-following/constraints.ts";
import { STRICT } from "../../../lib/domains/instruction-following/strict.ts";
import { ResponseText } from "../../../lib/domains/instruction-following/text/response-text.ts";

test("a blank response is never judged, thoughts are no part of it, and exploits are closed", () => {
  for (const blank of ["", " \n", "\u200b\u3164", "\u2800\u00ad", "\ufe0f"])
    expect(STRICT.isEmpty(blank, "constraint")).toBe(true);
  expect(STRICT.isEmpty(".", "constraint")).toBe(false);
  expect(STRICT.responseOf("a</think>b", "strict")).toBe("b");
  const check = STRICT.bind(CONSTRAINTS.get("detectable_format:json_format")!, {});
  expect([check(new ResponseText("1")), check(new ResponseText("[1]"))]).toEqual([false, true]);
});
