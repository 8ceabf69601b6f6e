/** A run in a process of its own (run-child.ts), which a test may have kill itself. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { childProgram } from "../fixtures/child-program.ts";

const CHILD = await childProgram(join(import.meta.dirname, "run-child.ts"));

/**
 * Begins the run in `dir`, or goes on with it, to its end, or until it has printed `lastLine` and killed itself.
 * @returns its last line
 */
export async function runInChild(
  dir: string,
  training: object,
  more: object,
  lastLine = "",
): Promise<string> {
  const resume = existsSync(dir) ? "auto" : "never";
  const args = [...CHILD, dir, resume, JSON.stringify(training), JSON.stringify(more)];
  const env = { ...process.env, HONE_TEST_LAST_LINE: lastLine };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let [out, errors] = ["", ""];
  child.stdout.on("data", (text) => (out += text));
  child.stderr.on("data", (text) => (errors += text));
  const [code, signal] = await once(child, "close");
  expect(lastLine === "" ? code : signal, errors).toBe(lastLine === "" ? 0 : "SIGKILL");
  return out.trim().split("\n").at(-1)!;
}
