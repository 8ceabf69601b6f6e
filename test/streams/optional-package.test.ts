import { expect, test } from "vitest";
import { optionalPackage } from "../../lib/streams/optional-package.ts";

test("what is installed is imported, what is not is named with the command that installs it", async () => {
  expect(await optionalPackage("zod", "a test")).toHaveProperty("z");
  await expect(optionalPackage("hone-no-such-package", "a stream store")).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
    message: "a stream store needs the package hone-no-such-package, which is not installed",
    hint: "npm install hone-no-such-package",
  });
});
