import type { Command } from "commander";
import { HoneError } from "../../errors.ts";
import type { Job, JobFile, JobSetOptions, SlurmOptions } from "../../launch/index.ts";
import { EXIT } from "../exit.ts";
import type { LaunchFlags } from "../launch.ts";
import { loadRecipe } from "../load-recipe.ts";
import { collect, SETTING, type Verb } from "./verb.ts";

type KubernetesFlags = LaunchFlags & Omit<JobSetOptions, "storeImage">;
type MpirunFlags = LaunchFlags & { readonly hostfile?: string; readonly mpirun: readonly string[] };

/** Command in a container image whose working directory has Hone installed. */
const IN_IMAGE = "node node_modules/hone-rl/dist/lib/cli/main.js";

/** Seconds. Short, since mpirun always waits for all of it, even if agents have saved sooner. */
const MPIRUN_GRACE = 30;

async function write(
  recipeFile: string,
  flags: LaunchFlags,
  suffix: string,
  make: (job: Job) => JobFile,
): Promise<number> {
  const { jobOf, writeJob } = await import("../launch.ts");
  const job = jobOf(await loadRecipe(recipeFile, flags.set), recipeFile, flags);
  process.stdout.write(`${writeJob(make(job), flags.out ?? `${job.name}${suffix}`)}\n`);
  return EXIT.done;
}

async function slurm(recipe: string, flags: LaunchFlags & SlurmOptions): Promise<number> {
  const { slurmFile } = await import("../../launch/index.ts");
  return write(recipe, flags, ".sbatch", (job) => slurmFile(job, flags));
}

async function kubernetes(recipe: string, flags: KubernetesFlags): Promise<number> {
  const { jobSetFile } = await import("../../launch/index.ts");
  const there = { hone: IN_IMAGE, recipeThere: recipe, runs: `${flags.mount}/runs` };
  return write(recipe, { ...there, ...flags }, ".yaml", (job) => jobSetFile(job, flags));
}

async function mpirun(recipe: string, flags: MpirunFlags): Promise<number> {
  const { mpirunFile } = await import("../../launch/index.ts");
  return write(recipe, flags, ".sh", (job) => mpirunFile(job, { ...flags, extra: flags.mpirun }));
}

const launcher = (parent: Command, name: string, description: string, grace = 120): Command =>
  parent
    .command(`${name} <recipe>`)
    .description(description)
    .option(
      "--nodes <number>",
      "machines, each with one agent (default: the recipe's hardware.nodes)",
      wholeOption("--nodes", 1, 65_536),
    )
    .option("--dir <folder>", "run folder, the same for all nodes (default: runs/<name of the recipe>)")
    .option("--store <address>", "address of an existing Redis server (default: the job starts one)")
    .option("--name <name>", "name of the job (default: the recipe's)")
    .option(
      "--grace <seconds>",
      "seconds between SIGTERM and the end, for saving",
      wholeOption("--grace", 1, 86_400),
      grace,
    )
    .option(
      "--restarts <number>",
      "largest number of restarts after exit code 75",
      wholeOption("--restarts", 0, 10_000),
      20,
    )
    .option("--out <file>", "path of the job file; - for standard output")
    .option("--hone <command>", "command line of hone on the nodes (default: as here)")
    .option(SETTING, "override a field of the recipe (repeatable)", collect, []);

export const launchVerb: Verb = (hone, ends) => {
  const launch = hone
    .command("launch")
    .description("write the file that starts a run on many machines (docs/how-to/cluster.md)");
  launcher(launch, "slurm", "a batch script")
    .option("--time <limit>", "time limit in Slurm's format: 24:00:00")
    .option("--partition <name>")
    .option("--account <name>")
    .action(ends(slurm));
  launcher(launch, "kubernetes", "a JobSet")
    .requiredOption("--image <name>", "container image with Node, Hone and the recipe")
    .requiredOption("--claim <name>", "volume that all pods mount: run folder, store")
    .option("--mount <path>", "path at which the pods mount the volume", "/shared")
    .option("--queue <name>", "queue of Kueue")
    .action(ends(kubernetes));
  launcher(launch, "mpirun", "write a script for Open MPI's mpirun", MPIRUN_GRACE)
    .option("--hostfile <file>", "hostfile of mpirun")
    .option("--mpirun <word>", "a further argument for mpirun (repeatable)", collect, [])
    .action(ends(mpirun));
};

/** Defines an option whose value is an integer. Throws HONE_ERR_USAGE. */
function wholeOption(flag: string, least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new HoneError(
      "HONE_ERR_USAGE",
      `${flag} is ${JSON.stringify(text)}, not an integer from ${least} to ${most}`,
    );
  };
}
