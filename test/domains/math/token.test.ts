import { expect, test } from "vitest";
import { SyntaxFault } from "../../../lib/domains/math/token.ts";

test("a syntax fault is told from other errors", () => {
  expect(new SyntaxFault("x")).toBeInstanceOf(Error);
  expect(new Error("x")).not.toBeInstanceOf(SyntaxFault);
});
