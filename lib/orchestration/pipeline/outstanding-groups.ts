import type { DrawnGroup, GroupRequest, SavedGroup, UnfinishedGroups } from "./group-request.ts";

/** A group between submission and training, and how many of its attempts are back. */
export interface OutstandingGroup {
  readonly request: GroupRequest;
  /** Attempts that the engine completed, with or without a verdict. */
  readonly completed: number;
  /** Attempts that never completed (aborted in the engine). */
  readonly failed: number;
}

/** A set of group numbers. */
export type Here = Pick<ReadonlySet<number>, "has">;

/** The groups between submission and training, in order of submission. */
export class OutstandingGroups {
  readonly #groups = new Map<number, OutstandingGroup>();
  /** Groups by version, the oldest first, each in order of submission. A resumed group has the version of its first token. */
  #byVersion = new Map<number, Map<number, GroupRequest>>();
  #newest = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.#groups.size;
  }

  /** Number of attempts that have not returned, and of those that have completed. */
  get attempts(): { readonly inFlight: number; readonly completed: number } {
    let [inFlight, waiting] = [0, 0];
    for (const { request, completed, failed } of this.#groups.values()) {
      inFlight += request.attempts - completed - failed;
      waiting += completed;
    }
    return { inFlight, completed: waiting };
  }

  add(request: GroupRequest): void {
    const { group, submittedVersion } = request;
    this.#groups.set(group, { request, completed: 0, failed: 0 });
    const alike = this.#byVersion.get(submittedVersion) ?? this.#begin(submittedVersion);
    alike.set(group, request);
  }

  #begin(version: number): Map<number, GroupRequest> {
    const alike = new Map<number, GroupRequest>();
    this.#byVersion.set(version, alike);
    if (version < this.#newest) this.#byVersion = new Map([...this.#byVersion].sort(([a], [b]) => a - b));
    else this.#newest = version;
    return alike;
  }

  complete(request: GroupRequest, completed: number, failed: number): void {
    this.#groups.set(request.group, { request, completed, failed });
  }

  remove(group: number): void {
    const gone = this.#groups.get(group);
    if (gone === undefined) return;
    this.#groups.delete(group);
    const { submittedVersion } = gone.request;
    const alike = this.#byVersion.get(submittedVersion)!;
    alike.delete(group);
    if (alike.size === 0) this.#byVersion.delete(submittedVersion);
  }

  *[Symbol.iterator](): Iterator<OutstandingGroup> {
    yield* this.#groups.values();
  }

  saved(): SavedGroup[] {
    return [...this.#groups.values()].map(({ request: { group, domain, index } }) => ({
      group,
      domain,
      index,
    }));
  }

  /**
   * The groups that the step at weight version v must take so that no later step trains a token older than `maxLag`
   * versions: the oldest r of them, where
   * r = max_j ( N(submitted at version <= v - maxLag + j) - j P ), j = 0, 1, ...
   * (a later step can take P, so the groups due within j steps must fit into j P). With at most P (maxLag + 1) groups
   * outstanding, r <= P.
   */
  due(version: number, maxLag: number, groupsPerStep: number): readonly GroupRequest[] {
    const count = this.#dueCount(version, maxLag, groupsPerStep);
    const due: GroupRequest[] = [];
    for (const requests of this.#byVersion.values())
      for (const request of requests.values()) {
        if (due.length >= count) return due;
        due.push(request);
      }
    return due;
  }

  /**
   * Number of the first due group (see `due`) that is not in `here`, the set of completed groups. Called for every
   * arriving group, so it allocates nothing.
   */
  firstDue(version: number, maxLag: number, groupsPerStep: number, here: Here): number | undefined {
    let left = this.#dueCount(version, maxLag, groupsPerStep);
    for (const requests of this.#byVersion.values())
      for (const group of requests.keys()) {
        if (left <= 0) return undefined;
        if (!here.has(group)) return group;
        left -= 1;
      }
    return undefined;
  }

  #dueCount(version: number, maxLag: number, groupsPerStep: number): number {
    let due = 0;
    let upToVersion = 0;
    for (const [submittedVersion, { size }] of this.#byVersion) {
      upToVersion += size;
      const stepsLeft = Math.max(0, submittedVersion + maxLag - version);
      due = Math.max(due, upToVersion - stepsLeft * groupsPerStep);
    }
    return due;
  }
}

/**
 * Returns how to submit a group while the weights are of `version`. A resumed group has the age of its first
 * token, and starts over if that is above `maxLag`. A group that was not in the pipeline when the run was
 * saved resumes only tokens of exactly these weights: an older age could make more groups due than a step
 * takes.
 */
export function submission(
  drawn: DrawnGroup,
  version: number,
  maxLag: number,
  unfinished: Pick<UnfinishedGroups, "of"> | undefined,
): Pick<GroupRequest, "submittedVersion" | "begun"> {
  const found = unfinished?.of(drawn);
  const oldest = drawn.again ? version - maxLag : version;
  if (found === undefined || found.version < oldest) return { submittedVersion: version };
  return { submittedVersion: found.version, begun: found.begun };
}
