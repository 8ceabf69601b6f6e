import { expect, test } from "vitest";
import { sandboxChoice } from "../../lib/sandbox/index.ts";
import { runPython } from "../../lib/verifiers/run-python.ts";

const { sandbox } = await sandboxChoice();

test.runIf(sandbox !== undefined)(
  "a program reads its input, and its end is told apart from its failure",
  async () => {
    await expect(runPython("print(int(input()) * 2)", { stdin: "21\n" })).resolves.toMatchObject({
      end: "finished",
      stdout: "42\n",
    });
    await expect(runPython("raise ValueError(3)")).resolves.toMatchObject({ end: "failed" });
    await expect(runPython("print(")).resolves.toMatchObject({ end: "syntax" });
  },
);

test.runIf(sandbox !== undefined)("limits end a program, and the signal ends the call", async () => {
  await expect(runPython("while True: pass", { wallMs: 300 })).resolves.toMatchObject({ end: "too-slow" });
  const loud = await runPython("print('x' * 5000)", { outputBytes: 1000 });
  expect(loud.end).toBe("too-much-output");
  const stopped = runPython("while True: pass", { signal: AbortSignal.timeout(100) });
  await expect(stopped).rejects.toMatchObject({ code: "HONE_ERR_ABORTED" });
});
