import { z } from "zod";
import { HoneError } from "../errors.ts";
import { count } from "./numbers.ts";

/**
 * Numbers of processes that sample, train and judge; without trainers or verifiers the run's own process does
 * that.
 */
export const processesSchema = z.strictObject({
  actors: count(64),
  trainers: z.int().min(0).max(64).default(0),
  verifiers: z.int().min(0).max(64).optional(), // default: 0
});

/** Number of processes of each role, over all nodes. */
export interface Roles {
  readonly actors: number;
  /** 0: the coordinator trains. */
  readonly trainers: number;
  /** Verifier hosts, each with `verification.workers` of its own. Default 0: the coordinator has a pool. */
  readonly verifiers?: number | undefined;
}

/** Number of all processes. */
export const processCount = ({ actors, trainers, verifiers = 0 }: Roles): number =>
  actors + trainers + verifiers;

interface Asked {
  readonly device?: string | undefined;
  readonly hardware?:
    | {
        readonly processes?: Roles | undefined;
        readonly nodes?: number | undefined;
        readonly gpus?: number;
        readonly actorGpus?: number | undefined;
      }
    | undefined;
}

/**
 * Processes that a recipe requires: `hardware.processes`, or one process per GPU if it counts generating
 * GPUs; else undefined.
 */
export function rolesOf({ device, hardware }: Asked): Roles | undefined {
  const { processes, gpus = 1, actorGpus } = hardware ?? {};
  if (processes !== undefined) return processes;
  if (device === "cpu" || actorGpus === undefined) return undefined;
  return { actors: actorGpus, trainers: gpus - actorGpus };
}

/** True if agents start the recipe's processes: on several machines, or one process per GPU. */
export const isForAgents = (recipe: Asked): boolean =>
  rolesOf(recipe) !== undefined && ((recipe.hardware?.nodes ?? 1) > 1 || (recipe.hardware?.gpus ?? 1) > 1);

/** Throws HONE_ERR_USAGE if the recipe does not give the numbers. */
export function expectRoles(recipe: Asked): Roles {
  const roles = rolesOf(recipe);
  if (roles !== undefined) return roles;
  throw new HoneError(
    "HONE_ERR_USAGE",
    "the recipe does not say how many processes sample and how many train",
    {
      hint: "Give both numbers, counted over all nodes, such as --set hardware.processes.actors=4 --set hardware.processes.trainers=4.",
    },
  );
}

/** Number of processes that judge at the same time, at all hosts together or in the run's own pool. */
export const verifierWorkers = ({
  verification,
  ...asked
}: Asked & { readonly verification: { readonly workers: number } }): number =>
  verification.workers * Math.max(1, rolesOf(asked)?.verifiers ?? 0);
