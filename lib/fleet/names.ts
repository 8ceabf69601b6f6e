import { LEAST_UPDATE_MS } from "../shared/weights/weight-update.ts";

/** Role of a fleet process. */
export type Role = "actor" | "trainer" | "verifier";

/** Names of the store's streams and registers. One store serves one run. */

export const STREAMS = {
  /** Messages of the coordinator to every actor (messages.ts, Control). */
  control: "control",
  /** Answers of actors to weight updates. */
  answers: "answers",
  requests: (engine: string) => `requests/${engine}`,
  outcomes: (engine: string) => `outcomes/${engine}`,
  /** Tokens of requests in progress, written every `recordEveryTokens` tokens. */
  notes: (engine: string) => `notes/${engine}`,
  /** Verifier jobs and their outcomes (messages.ts). */
  jobs: "jobs",
  jobEnds: "jobs/ends",
  /** Calls to the trainer's ranks of one epoch, and their replies; each later epoch has a higher number. */
  commands: (epoch: number) => `trainer/${epoch}/commands`,
  replies: (epoch: number) => `trainer/${epoch}/replies`,
} as const;

/** The group of readers that consists of all actors. */
export const ACTORS = "actors";
/** The group of readers that consists of all verifier hosts. */
export const VERIFIER_HOSTS = "verifiers";

/** A slot, filled by one process at a time: "actor.1". */
export type PlaceName = `${Role}.${number}`;

export const REGISTERS = {
  settings: "fleet/settings",
  /** Folder for weights in transfer between processes of one machine. */
  folder: "fleet/folder",
  /** How often the process in this slot was replaced; writes of a process with an older number are refused. */
  generation: (place: PlaceName) => `fleet/generation/${place}`,
  /** Number of processes of a role that joined after the run began. */
  joined: (role: Role) => `fleet/joined/${role}`,
  /** Epoch of the trainer's ranks. */
  epoch: "fleet/epoch",
  /** Addresses at which the ranks of one epoch connect to each other. */
  links: (epoch: number) => `fleet/links/${epoch}/`,
  /** Addresses at which the members of one transfer group connect to each other. */
  transfer: (group: number) => `fleet/transfer/${group}/`,
  /** Leased address of a process's Prometheus endpoint: common prefix, and the name for one process. */
  allMetrics: "fleet/metrics/",
  metrics: (name: string) => `fleet/metrics/${name}`,
  /** Lease of a live process, and its status: prefixes of the names, and a process's own. */
  beats: "fleet/beats/",
  beat: (place: PlaceName) => `fleet/beats/${place}`,
  statuses: "fleet/statuses/",
  status: (place: PlaceName) => `fleet/statuses/${place}`,
} as const;

/** "actor.1#2": the second process that was actor 1. */
export const memberName = (place: PlaceName, generation: number): string => `${place}#${generation}`;

/** Name of a trainer's rank in one epoch; if the coordinator trains, it is rank 0 of epoch 0. */
export const rankName = (rank: number, epoch: number): string => memberName(`trainer.${rank}`, epoch);

/** Number of processes that filled a member's place before it. */
export const predecessors = (member: string): number => Number(member.slice(member.indexOf("#") + 1)) - 1;

/** Time limits of a fleet; the coordinator's settings apply to all processes. Milliseconds. */
export interface FleetSettings {
  /** Time without renewal after which a request goes to another actor. */
  readonly leaseMs: number;
  /** Interval between heartbeats. */
  readonly beatMs: number;
  /** Time without a heartbeat after which a process counts as dead. */
  readonly aliveMs: number;
  /** Time from a process's start to its first heartbeat, after which it counts as hung. */
  readonly beginMs: number;
  /** Least time for each member's part in a weight update, whatever its size; slower members are left out. */
  readonly updateMs: number;
  /** Time for the first actor to join, and for one to rejoin if all are lost. */
  readonly gatherMs: number;
  /** Time for a collective of the trainer's ranks, including the slowest rank's work before it. */
  readonly collectiveMs: number;
  /** Ranks in a call count as hung after this long without a finished call or processor time. */
  readonly stallMs: number;
}

export const SETTINGS: FleetSettings = {
  leaseMs: 10_000,
  beatMs: 500,
  aliveMs: 10_000,
  beginMs: 120_000,
  updateMs: LEAST_UPDATE_MS,
  gatherMs: 120_000,
  collectiveMs: 1_800_000,
  stallMs: 60_000,
};
