import { expect, test } from "vitest";
import { SandboxFault } from "../../lib/sandbox/python-sandbox.ts";

test("a driver's fault has its name once, and what to do", () => {
  const fault = new SandboxFault("the b sandbox", "no fork here");
  expect(fault).toMatchObject({
    code: "HONE_ERR_VERIFIER",
    message: "the b sandbox does not work: no fork here",
    why: "no fork here",
    hint: expect.stringContaining("hone doctor"),
  });
});
