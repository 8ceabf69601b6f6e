/** A run over several processes: actors' engines and the trainer's ranks, with the interfaces of a single process. */
export { type Agents, type AgentsOptions, openAgents } from "./agents.ts";
export { type SelfTestOptions, type SelfTestReport, selfTestRank } from "./cluster-self-test.ts";
export { gpuVariables, PROCESS_EXIT } from "./environment.ts";
export { Fleet, type FleetOptions, openFleet } from "./fleet.ts";
export { joiningRanks } from "./heartbeat.ts";
export { awaitReadiness, liveMembers, type ReadyProcess } from "./membership.ts";
export { type FleetSettings, type Role, SETTINGS } from "./names.ts";
export { NodeRoles, type NodeRolesOptions } from "./node-roles.ts";
export { openProcesses, type Processes, type ProcessesOptions } from "./processes.ts";
export { Rendezvous, sessionRun } from "./rendezvous.ts";
export { type MetricsPlace, usableMetricsPlace } from "./role-metrics.ts";
