/** Processes on many machines: launcher environments, placement of processes, job files for launchers. */
export { type AgentOptions, addressTowards, type Joining, runAgent } from "./agent.ts";
export type { Job, JobFile } from "./job.ts";
export { type JobSetOptions, jobSetFile } from "./jobset-file.ts";
export { type LauncherEnv, readLauncherEnv } from "./launcher-env.ts";
export { type MpirunOptions, mpirunFile } from "./mpirun-file.ts";
export { devicesANode, type Placement, placeProcesses, type Roles } from "./placement.ts";
export { simulatedNodes } from "./simulated-nodes.ts";
export { type SlurmOptions, slurmFile } from "./slurm-file.ts";
