// bubblewrap.test.ts and pyodide.test.ts run real programs.
import { expect, test } from "vitest";
import type { PythonLimits, Readiness } from "../../lib/sandbox/python-sandbox.ts";
import { Zygote } from "../../lib/sandbox/zygote.ts";
import { ZygoteSandbox } from "../../lib/sandbox/zygote-sandbox.ts";

const LIMITS: PythonLimits = { wallMs: 100, memoryBytes: 1, outputBytes: 100 };

/** A sandbox whose program ends as soon as it starts. */
class Broken extends ZygoteSandbox {
  readonly name = "broken";
  opened = 0;

  protected open(): Zygote {
    this.opened += 1;
    return new Zygote({ command: process.execPath, args: ["-e", "console.error('no fork here')"] });
  }

  protected async prepare(): Promise<Readiness> {
    return { usable: true, what: "nothing" };
  }
}

test("what is lost is started once more, and then said to be so", async () => {
  const broken = new Broken();
  expect(await broken.probe()).toEqual({
    usable: false,
    why: "no fork here",
  });
  expect(broken.opened).toBe(2);
  const run = broken.run({ source: "", stdin: "", dialect: "script" }, LIMITS);
  await expect(run).rejects.toMatchObject({ code: "HONE_ERR_VERIFIER" });
});
