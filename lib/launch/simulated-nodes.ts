type Environment = NodeJS.ProcessEnv;

/**
 * The variables that a launcher sets and an agent reads, for `nodes` agents, one per node: an environment per node,
 * by launcher. The variables are those of captured environments (test/launch/environments).
 */
export function simulatedNodes(nodes: number): Readonly<Record<string, readonly Environment[]>> {
  const each = (of: (node: number) => Environment) => Array.from({ length: nodes }, (_, node) => of(node));
  const all = String(nodes);
  const onePerNode = nodes === 1 ? "1" : `1(x${nodes})`;
  const master = { MASTER_ADDR: "node-0" };
  return {
    Slurm: each((node) => ({
      ...master,
      SLURM_PROCID: String(node),
      SLURM_NTASKS: all,
      SLURM_LOCALID: "0",
      SLURM_NODEID: String(node),
      SLURM_NNODES: all,
      SLURM_TASKS_PER_NODE: onePerNode,
      SLURM_STEP_ID: "0",
      SLURM_STEP_NUM_TASKS: all,
      SLURM_STEP_NUM_NODES: all,
      SLURM_STEP_TASKS_PER_NODE: onePerNode,
    })),
    Kubernetes: each((node) => ({ ...master, JOB_COMPLETION_INDEX: String(node), HONE_NODES: all })),
    mpirun: each((node) => ({
      ...master,
      OMPI_COMM_WORLD_RANK: String(node),
      OMPI_COMM_WORLD_SIZE: all,
      OMPI_COMM_WORLD_LOCAL_RANK: "0",
      OMPI_COMM_WORLD_LOCAL_SIZE: "1",
    })),
    torchrun: each((node) => ({
      ...master,
      RANK: String(node),
      WORLD_SIZE: all,
      LOCAL_RANK: "0",
      LOCAL_WORLD_SIZE: "1",
      GROUP_RANK: String(node),
    })),
  };
}
