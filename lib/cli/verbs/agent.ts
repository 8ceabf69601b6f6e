import { join, resolve } from "node:path";
import { HoneError } from "../../errors.ts";
import type { Joining, Roles } from "../../launch/index.ts";
import { EXIT, explain, interruptSignal, isNonRetryable } from "../exit.ts";
import { honeCommand } from "../hone-command.ts";
import { loadRecipe } from "../load-recipe.ts";
import { collect, SETTING, type Verb } from "./verb.ts";

interface Flags {
  readonly dir?: string;
  readonly store?: string;
  readonly set: readonly string[];
  readonly dryRun?: boolean;
  readonly join?: string;
  readonly joinVerifiers?: string;
}

async function agent(file: string, flags: Flags): Promise<number> {
  const { expectRoles } = await import("../../config/index.ts");
  const { PROCESS_EXIT, usableMetricsPlace } = await import("../../fleet/index.ts");
  const { readLauncherEnv, runAgent, placeProcesses } = await import("../../launch/index.ts");
  const { fieldsOf } = await import("../../runs/index.ts");
  const { needsGpus } = await import("../launch.ts");
  const say = (line: string) => void process.stderr.write(`${line}\n`);
  const signal = interruptSignal(() => {}, true);
  try {
    const launcherEnv = readLauncherEnv(process.env);
    const recipe = await loadRecipe(file, flags.set);
    const { nodes, nodeRank } = launcherEnv;
    expectOneANode(launcherEnv.localSize);
    const place = process.env["HONE_METRICS"];
    const dir = resolve(flags.dir ?? join("runs", recipe.name));
    const settings = flags.set.flatMap((setting) => ["--set", setting]);
    const rehearsal = flags.dryRun ? ["--dry-run"] : [];
    const roles = expectRoles(recipe);
    const joins = joining(flags, roles);
    return await runAgent({
      launcherEnv,
      ...(joins === undefined
        ? { placements: placeProcesses(roles, nodes)[nodeRank]! }
        : { placements: [], joins }),
      runId: process.env["HONE_RUN_ID"] ?? recipe.name,
      store: flags.store ?? process.env["HONE_STORE"] ?? missingStore(),
      recipe: fieldsOf(recipe),
      logs: join(dir, "logs"),
      gpus: needsGpus(recipe),
      coordinator: [
        ...honeCommand(),
        "run",
        file,
        "--dir",
        dir,
        "--resume",
        "--agents",
        ...rehearsal,
        ...settings,
      ],
      nonRetryable: [EXIT.usage, EXIT.data, PROCESS_EXIT.config],
      ...(place && { metrics: await usableMetricsPlace(place) }),
      signal,
      say,
    });
  } catch (error) {
    say(explain(error));
    return isNonRetryable(error) ? PROCESS_EXIT.config : PROCESS_EXIT.restart;
  }
}

function expectOneANode(localSize: number): void {
  if (localSize === 1) return;
  throw new HoneError(
    "HONE_ERR_USAGE",
    `the launcher started ${localSize} agents on this node, which needs one`,
    {
      hint: "One task per node: --ntasks-per-node=1, --map-by ppr:1:node, --nproc-per-node=1.",
    },
  );
}

/** The processes that the flags --join and --join-verifiers ask for; undefined for a node of the original run. */
function joining({ join: actors, joinVerifiers: verifiers }: Flags, begun: Roles): Joining | undefined {
  if (actors === undefined && verifiers === undefined) return undefined;
  if (verifiers !== undefined && !begun.verifiers)
    throw new HoneError(
      "HONE_ERR_USAGE",
      "--join-verifiers: this run has no verifier hosts, its coordinator judges",
      {
        hint: "Begin the run with hardware.processes.verifiers of 1 or more.",
      },
    );
  return {
    actors: countOf("--join", actors),
    verifiers: countOf("--join-verifiers", verifiers),
    begun,
  };
}

function countOf(flag: string, text: string | undefined): number {
  if (text === undefined) return 0;
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  throw new HoneError("HONE_ERR_USAGE", `${flag} is ${JSON.stringify(text)}, not a number from 1 to 999`);
}

function missingStore(): never {
  throw new HoneError("HONE_ERR_USAGE", "an agent needs the address of the run's store", {
    hint: "--store redis://host:port, or HONE_STORE.",
  });
}

export const agentVerb: Verb = (hone, ends) => {
  hone
    .command("agent <recipe>")
    .description(
      "start this node's part of a run on many machines; a launcher starts one a node (docs/how-to/cluster.md)",
    )
    .option("--dir <folder>", "run folder, the same for all nodes (default: runs/<name of the recipe>)")
    .option("--store <address>", "address of the run's store, redis://host:port (default: HONE_STORE)")
    .option(
      "--join <actors>",
      "join a running run as an additional node with this many actors; SIGTERM removes it again",
    )
    .option(
      "--join-verifiers <hosts>",
      "join a running run as an additional node with this many verifier hosts",
    )
    .option(
      "--dry-run",
      "start every process up to opening its device, print which process runs where, and exit: no model, no data",
    )
    .option(SETTING, "override a field of the recipe (repeatable)", collect, [])
    .action(ends(agent));
};
