import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packageRoot } from "../lib/package-root.ts";

test("the package's folder holds its build description", () => {
  expect(existsSync(join(packageRoot(), "CMakeLists.txt"))).toBe(true);
});
