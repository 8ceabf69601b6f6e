// The system clock changes during a run (by NTP, an operator, or a migrated virtual machine). The run uses it only to
// show times: no wait, lease or restart depends on it. In every process Date.now() jumps an hour forward and back, ten
// times a second.
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { readEvents } from "../../lib/orchestration/records/event-log.ts";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { asWords, QUICKSTART, smallQuickstart, weightsAfter } from "../fixtures/small-quickstart.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";

const STEPS = 4;
/** Verifier processes do not inherit the test's environment, so the module contains the file's name. */
const jumps = (jumped: string) => `
  import { appendFileSync } from "node:fs";
  const now = Date.now.bind(Date);
  Date.now = () => now() + 3_600_000 * ((Math.floor(now() / 100) % 3) - 1);
  appendFileSync(${JSON.stringify(jumped)}, process.pid + "\\n");
`;

const dir = mkdtempSync(join(tmpdir(), "hone-clock-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

async function run(name: string, processes: number, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const settings = [`hardware.processes.actors=${processes}`, `hardware.processes.trainers=${processes / 2}`];
  const argv = ["run", QUICKSTART, "--dir", join(dir, name)];
  const words = asWords([...smallQuickstart(STEPS), ...(processes > 0 ? settings : [])]);
  await promisify(execFile)(process.execPath, [...HONE, ...argv, ...words], {
    cwd: ROOT,
    env: { ...process.env, ...env },
  });
  return weightsAfter(join(dir, name), STEPS);
}

test.runIf(longest)(
  "a clock that jumps restarts nothing and changes no bit",
  async () => {
    const jumped = join(dir, "jumped");
    writeFileSync(join(dir, "jumps.mjs"), jumps(jumped));
    const options = `${process.env["NODE_OPTIONS"] ?? ""} --import ${pathToFileURL(join(dir, "jumps.mjs")).href}`;
    const undisturbed = await run("undisturbed", 0);
    expect(await run("jumping", 2, { NODE_OPTIONS: options })).toBe(undisturbed);
    // at least this process, two actors and a trainer
    expect(new Set(readFileSync(jumped, "utf8").trim().split("\n")).size).toBeGreaterThanOrEqual(4);
    const warnings = readEvents(join(dir, "jumping", "events.jsonl")).flatMap((event) =>
      event.e === "note" && event.k === "warning" ? [event.m] : [],
    );
    expect(warnings.filter((text) => /actor|trainer|again|took/.test(text))).toEqual([]);
  },
  patient(120_000),
);
