// The disk is really full while the quick start trains. With checkpoint.maxUnsavedSteps the run continues, and saves
// again once there is space; otherwise it ends with a named error, and resumes from its last checkpoint.
import { execFile, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test, vi } from "vitest";
import { readPipelineStatus } from "../../lib/metrics/index.ts";
import { readEvents } from "../../lib/orchestration/records/event-log.ts";
import { HONE, ROOT } from "../fixtures/command-line.ts";
import { asWords, QUICKSTART, smallQuickstart, weightsAfter } from "../fixtures/small-quickstart.ts";
import { longest } from "../long.ts";
import { patient } from "../patience.ts";

const BEFORE = 2;
const STEPS = 40;
/** A checkpoint of the small quick start has some 200 KiB; one of its steps takes some 30 ms. */
const DISK_KIB = 1024;
const SOON = { timeout: patient(60_000), interval: 1 };

const dir = mkdtempSync(join(tmpdir(), "hone-full-"));
const disk = join(dir, "run", "checkpoints");
const tmpfs = ["-t", "tmpfs", "-o", `size=${DISK_KIB}k`, "tmpfs"];
const probe = join(dir, "probe");
mkdirSync(probe);
const noDisk =
  spawnSync("mount", [...tmpfs, probe]).status === 0 ? "" : "no disk of its own can be mounted here";
afterAll(() => {
  for (const each of noDisk ? [] : [probe, disk]) spawnSync("umount", [each]);
  rmSync(dir, { recursive: true, force: true });
});

/** Moves the run's checkpoints to a disk of their own. */
function moveToDisk(): void {
  const aside = join(dir, "aside");
  cpSync(disk, aside, { recursive: true });
  expect(spawnSync("mount", [...tmpfs, disk]).status).toBe(0);
  cpSync(aside, disk, { recursive: true });
}
const filler = join(disk, "filler");
const fill = () => {
  try {
    writeFileSync(filler, new Uint8Array(1024 * DISK_KIB));
  } catch {} // fills the disk
};
const saved = () => readdirSync(disk).filter((name) => name.startsWith("step-"));
const warnings = () =>
  readEvents(join(dir, "run", "events.jsonl")).flatMap((event) =>
    event.e === "note" && event.k === "warning" ? [event.m] : [],
  );

function run(name: string, settings: readonly string[], ...more: string[]) {
  // a cosine schedule over the two steps of the first session would differ from one over forty
  const same = ["checkpoint.keepLast=1", "optimizer.schedule=constant"];
  const words = asWords([...smallQuickstart(STEPS), ...same, ...settings]);
  const argv = [...HONE, "run", QUICKSTART, "--dir", join(dir, name), ...more, ...words];
  return promisify(execFile)(process.execPath, argv, { cwd: ROOT });
}

test.runIf(longest && !noDisk)(
  `a full disk ends a run when its time is over, and delays one that gets room in time${noDisk && ` [${noDisk}]`}`,
  async () => {
    await run("undisturbed", []);
    const undisturbed = weightsAfter(join(dir, "undisturbed"), STEPS);

    await run("run", [`training.steps=${BEFORE}`]);
    moveToDisk();
    fill();
    const ending = run("run", ["checkpoint.maxUnsavedSteps=3"], "--resume");
    await expect(ending).rejects.toMatchObject({
      stderr: expect.stringContaining("No space left on device"),
    });
    expect(saved()).toEqual(["step-000002"]); // no partial checkpoint is left
    const told = () =>
      warnings().flatMap((text) => {
        const match = /step (\d+) is not written.* ends with step (\d+)/.exec(text);
        return match === null ? [] : [match.slice(1)];
      });
    const [first, end] = [BEFORE + 1, BEFORE + 4];
    expect(told()).toEqual([first, first + 1, first + 2].map((step) => [`${step}`, `${end}`]));
    expect(readPipelineStatus(join(dir, "run"))!.step).toBe(end);

    // On a busy machine the run may have failed for lack of space before this test sees the full disk; it tries again.
    for (let attempt = 1; ; attempt++) {
      const before = told().length;
      const goingOn = run("run", ["checkpoint.maxUnsavedSteps=1000"], "--resume");
      const ended = goingOn.then(
        () => undefined,
        (error: { readonly stderr: string }) => error.stderr,
      );
      await Promise.race([ended, vi.waitFor(() => expect(told().length).toBeGreaterThan(before), SOON)]);
      rmSync(filler);
      const failure = await ended;
      if (failure === undefined) break;
      expect(failure).toContain("No space left on device");
      expect(attempt).toBeLessThan(5);
      fill();
    }
    expect(weightsAfter(join(dir, "run"), STEPS)).toBe(undisturbed);
    expect(saved()).toEqual([`step-${String(STEPS).padStart(6, "0")}`]);
  },
  patient(180_000),
);
