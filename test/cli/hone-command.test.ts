import { join } from "node:path";
import { expect, test } from "vitest";
import { honeCommand } from "../../lib/cli/hone-command.ts";

test("a command is started again as this process was", () => {
  const [program, ...rest] = honeCommand();
  const main = join(import.meta.dirname, "../../lib/cli/main.ts");
  expect([program, rest.at(-1)]).toEqual([process.execPath, main]);
});
