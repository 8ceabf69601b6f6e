import { expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import { faultOf, faultText, isOfTheWay } from "../../lib/fleet/fault-text.ts";

test("an error of another process says whose it was, with its code and hint", () => {
  const there = new HoneError("HONE_ERR_OUT_OF_MEMORY", "no room for pages", { hint: "engine.pages" });
  const here = faultOf(JSON.parse(JSON.stringify(faultText(there))), "actor.1#2");
  expect(here).toMatchObject({
    code: "HONE_ERR_OUT_OF_MEMORY",
    message: "actor.1#2: no room for pages",
    hint: "engine.pages",
    details: { where: "actor.1#2" },
  });
});

test("an error that nobody raised on purpose is an internal one", () => {
  expect(faultText(new TypeError("x is not a function"))).toEqual({
    code: "HONE_ERR_INTERNAL",
    message: "x is not a function",
  });
});

test.each([
  ["HONE_ERR_COLLECTIVE", true],
  ["HONE_ERR_ABORTED", true],
  ["HONE_ERR_FORMAT", false],
  ["HONE_ERR_STATE", false],
] as const)("%s is of the way: %s", (code, is) => expect(isOfTheWay(code)).toBe(is));
