import { expect, test } from "vitest";
import { REFERENCE } from "../../../lib/domains/function-calling/reference.ts";
import { STRICT } from "../../../lib/domains/function-calling/strict.ts";
import { functionCalling } from "../../../lib/domains/function-calling/verify.ts";

const ENTRY = { id: "irrelevance_1", function: [] };

test("a reference says how it is judged, strictly where it does not", () => {
  expect(functionCalling.parseReference({ entry: ENTRY })).toMatchObject({
    rules: STRICT,
    dialect: undefined,
  });
  const asked = { entry: ENTRY, compat: "reference", dialect: "python" };
  expect(functionCalling.parseReference(asked)).toMatchObject({ rules: REFERENCE, dialect: "python" });
});

test.each([
  [{}],
  [{ entry: 5 }],
  [{ entry: ENTRY, compat: "lax" }],
  [{ entry: ENTRY, dialect: "xml" }],
  [{ entry: "{" }],
])("the reference %j is refused", (raw) => {
  expect(() => functionCalling.parseReference(raw)).toThrow(
    expect.objectContaining({ code: "HONE_ERR_DATA" }),
  );
});
