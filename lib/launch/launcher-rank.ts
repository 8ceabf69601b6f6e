/** Position of a process among all processes that a launcher started. */
export interface LauncherRank {
  /** Rank among all processes of the launcher: 0, 1, ... */
  readonly rank: number;
  readonly worldSize: number;
  /** Rank among the processes of its node. */
  readonly localRank: number;
  readonly localSize: number;
  readonly nodeRank: number;
  readonly nodes: number;
  /** Number of restarts that the launcher reports. It may be too low, because a node can be replaced without being counted. */
  readonly restarts: number;
}
