/** Processes on many machines: what a launcher says of a process, who runs where, files for launchers. */
export { type AgentOptions, addressTowards, type Joining, runAgent } from "./agent.ts";
export { type Contract, readContract } from "./contract.ts";
export type { Job, JobFile } from "./job.ts";
export { type JobSetOptions, jobSetFile } from "./jobset-file.ts";
export { type MpirunOptions, mpirunFile } from "./mpirun-file.ts";
export { simulatedNodes } from "./simulated-nodes.ts";
export { type SlurmOptions, slurmFile } from "./slurm-file.ts";
export { devicesANode, type Roles, type Seat, worldMap } from "./world-map.ts";
