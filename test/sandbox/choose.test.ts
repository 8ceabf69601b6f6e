import { expect, test, vi } from "vitest";
import { choiceText, chooseAmong } from "../../lib/sandbox/choose.ts";
import type { PythonSandbox, Readiness } from "../../lib/sandbox/python-sandbox.ts";
import { long } from "../long.ts";

const asked: string[] = [];
const driver = (name: string, readiness: Readiness): PythonSandbox => ({
  name,
  probe: async () => {
    asked.push(name);
    return readiness;
  },
  run: () => Promise.reject(new Error("not run here")),
});
const broken = driver("a", { usable: false, why: "no kernel" });
const first = driver("b", { usable: true, what: "b 1.0" });
const second = driver("c", { usable: true, what: "c 2.0" });

test("auto takes the first driver that works and asks no further", async () => {
  asked.length = 0;
  const choice = await chooseAmong([broken, first, second], "auto");
  expect(choice.sandbox).toBe(first);
  expect(asked).toEqual(["a", "b"]);
  expect(choiceText(choice)).toBe("b (b 1.0); a is not usable: no kernel");
});

test("a driver by name is the only one tried, usable or not", async () => {
  expect(choiceText(await chooseAmong([broken, first, second], "c"))).toBe("c (c 2.0)");
  const choice = await chooseAmong([broken, first], "a");
  expect(choice.sandbox).toBeUndefined();
  expect(choiceText(choice)).toBe("a is not usable: no kernel");
});

test("an unknown name is refused with those that are known", async () => {
  await expect(chooseAmong([broken, first], "docker")).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: 'HONE_SANDBOX is "docker"; known: auto, a, b',
  });
});

test.skipIf(!long)("compiled programs do not run in wasm", async () => {
  vi.stubEnv("HONE_SANDBOX", "wasm");
  vi.resetModules();
  const { nativeSandbox } = await import("../../lib/sandbox/choose.ts");
  await expect(nativeSandbox()).rejects.toMatchObject({
    code: "HONE_ERR_VERIFIER",
    message: expect.stringMatching(
      /compiled programs run in the sandbox bubblewrap alone|no sandbox for Python/,
    ),
  });
  vi.unstubAllEnvs();
});
