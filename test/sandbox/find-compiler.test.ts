import { existsSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { cppCompiler } from "../../lib/sandbox/find-compiler.ts";

vi.mock("node:fs", async (original) => ({
  ...(await original<typeof import("node:fs")>()),
  existsSync: vi.fn(),
}));
const here = vi.mocked(existsSync);

test("g++ is preferred to clang++, and both are looked for in /usr alone", () => {
  here.mockImplementation((path) => path === "/usr/local/bin/g++" || path === "/usr/bin/clang++");
  expect(cppCompiler()).toBe("/usr/local/bin/g++");
  here.mockImplementation((path) => path === "/usr/bin/clang++");
  expect(cppCompiler()).toBe("/usr/bin/clang++");
});

test("without a compiler the error says where it was looked for and how to get one", () => {
  here.mockReturnValue(false);
  expect(() => cppCompiler()).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_CONFIG",
      message: expect.stringContaining("/usr/bin/g++, /usr/local/bin/g++, /usr/bin/clang++"),
      hint: expect.stringContaining("apt-get install g++"),
    }),
  );
});
