import { readEvents, readHistory } from "../orchestration/index.ts";
import { CounterRandom } from "../random.ts";
import type { DomainName } from "../records.ts";
import type { GroupOutcome, Outcomes } from "./workload.ts";

/** A group of a recorded run, and the step that took it. */
export interface RecordedGroupFacts {
  readonly domain: DomainName;
  readonly step: number;
  readonly lengths: readonly number[];
  readonly kept: boolean;
}

const STREAM = 0x54524143;
/** Steps to each side from which the groups of a step are drawn: answers change as the policy learns. */
const WINDOW = 3;

/** Every group of a run's events, in order. Throws the errors of readEvents. */
export function recordedGroups(path: string): RecordedGroupFacts[] {
  const { steps, drawn } = readHistory(readEvents(path));
  return steps.flatMap(({ groups }, step) =>
    groups.map(({ g, x, r }) => ({
      domain: drawn.get(g)!.domain,
      step,
      lengths: r.map(([, tokens]) => tokens),
      kept: x === undefined,
    })),
  );
}

/**
 * Answers drawn from a recorded run: each problem gets the lengths and the outcome of a group of the same domain at
 * the same step (within three; beyond the last step, that one).
 * @param beside properties that the record of groups lacks, by domain
 */
export function recordedOutcomes(
  groups: readonly RecordedGroupFacts[],
  seed: number,
  beside: (domain: DomainName) => { readonly promptTokens: number; readonly verify: number },
): Outcomes {
  const byDomain = new Map<DomainName, RecordedGroupFacts[]>();
  for (const group of groups) {
    const list = byDomain.get(group.domain);
    if (list === undefined) byDomain.set(group.domain, [group]);
    else list.push(group);
  }
  const names = [...byDomain.keys()];
  return (domain, index, attempts, step): GroupOutcome => {
    const list = byDomain.get(domain)!;
    const [from, to] = around(list, Math.min(step, list.at(-1)!.step));
    const random = new CounterRandom(seed, STREAM, names.indexOf(domain), index);
    const { lengths, kept } = list[random.int(from, to - 1)]!;
    const { promptTokens, verify } = beside(domain);
    return {
      promptTokens,
      kept,
      lengths: Array.from({ length: attempts }, (_, i) => Math.max(1, lengths[i % lengths.length]!)),
      verify: new Array<number>(attempts).fill(verify),
    };
  };
}

/** Indices of the groups that were settled near a step; the nearest group if there are none. */
function around(list: readonly RecordedGroupFacts[], step: number): [from: number, to: number] {
  const from = firstFrom(list, step - WINDOW);
  const to = firstFrom(list, step + WINDOW + 1);
  return to > from ? [from, to] : from < list.length ? [from, from + 1] : [list.length - 1, list.length];
}

/** Index of the first group of this step or of a later one; the list is in order of steps. */
function firstFrom(list: readonly RecordedGroupFacts[], step: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle]!.step < step) low = middle + 1;
    else high = middle;
  }
  return low;
}
