import { expect, test } from "vitest";
import { slurmFile } from "../../lib/launch/slurm-file.ts";
import { expectBash, jobOf, orders } from "./jobs.ts";

test("what is asked of Slurm", () => {
  const { text, submit } = slurmFile(jobOf(), { time: "24:00:00", partition: "gpu", account: "us" });
  expectBash(text);
  expect(text.split("\n").filter((line) => line.startsWith("#SBATCH"))).toEqual([
    "#SBATCH --job-name=apriel-15b",
    "#SBATCH --nodes=8",
    "#SBATCH --ntasks-per-node=1",
    "#SBATCH --gres=gpu:8",
    "#SBATCH --exclusive",
    "#SBATCH --time=24:00:00",
    "#SBATCH --partition=gpu",
    "#SBATCH --account=us",
    "#SBATCH --requeue",
    "#SBATCH --open-mode=append",
    "#SBATCH --output=/shared/runs/apriel-15b/slurm-%j.log",
    "#SBATCH --signal=B:TERM@120",
  ]);
  expect(submit("a b.sbatch")).toEqual(["mkdir -p /shared/runs/apriel-15b", "sbatch 'a b.sbatch'"]);
});

test("a time that Slurm would not take is refused", () => {
  for (const time of ["90", "90:00", "24:00:00", "2-12", "2-12:30", "2-12:30:00", "UNLIMITED"])
    slurmFile(jobOf(), { time });
  for (const time of ["forever", "24h", "", "1:2:3:4", "2-", "24:00:00\n#SBATCH --x"])
    expect(() => slurmFile(jobOf(), { time })).toThrow(`--time is ${JSON.stringify(time)}`);
});

test("Slurm reads no order that stands behind a command", () => {
  const all = orders(slurmFile(jobOf()).text);
  const first = all.findIndex((line) => !line.startsWith("#"));
  expect(all.slice(first).filter((line) => line.startsWith("#SBATCH"))).toEqual([]);
});

test("agents are started with the recipe and the folder, whatever they are called", () => {
  const { text } = slurmFile(jobOf());
  expect(text).toContain(
    "srun --kill-on-bad-exit=1 node /opt/hone/main.js agent '/shared/it'\\''s here.ts' --dir /shared/runs/apriel-15b &",
  );
});

test("without GPUs none is asked for; with a store none is started", () => {
  const { text } = slurmFile(jobOf({ gpusPerNode: 0, store: "redis://there:6379" }));
  expect(text).not.toContain("gres");
  expect(text).not.toContain("redis-server");
  expect(text).toContain("export HONE_STORE=redis://there:6379\n");
  expect(slurmFile(jobOf()).text).toContain("redis-server");
});

test("a name that is none is refused", () => {
  expect(() => slurmFile(jobOf({ name: "a b" }))).toThrow("the job's name");
});
