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
  /** Number of restarts by the launcher; a hint, because a node may be replaced without a count. */
  readonly restarts: number;
}
