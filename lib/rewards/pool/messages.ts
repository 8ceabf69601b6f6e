/**
 * Milliseconds for which quick verdicts are gathered in one message: a message wakes four threads, which costs half a
 * millisecond of the one that trains.
 */
const MESSAGE_MS = 20;
const MOST = 256;
/** A group is sent in one message: its verdicts arrive together, and groups are judged one after another. */
const FEWEST = 32;

/** Splits calls at group boundaries: `isNext` tells whether consecutive completions belong to one group. */
export function groupedMessages(
  count: number,
  meanMs: number | undefined,
  isNext: (index: number) => boolean,
): number[][] {
  const [{ length: size }] = messagesOf(MOST, meanMs).slice(-1) as [number[]];
  const messages: number[][] = [];
  let group: number[] = [];
  const add = () => {
    const last = messages.at(-1);
    if (last !== undefined && last.length + group.length <= size) last.push(...group);
    else if (group.length > 0) messages.push(group);
  };
  for (let index = 0; index < count; index++) {
    if (index > 0 && !isNext(index)) {
      add();
      group = [];
    }
    group.push(index);
  }
  add();
  return messages.reverse();
}

/**
 * Indices 0 to count - 1 in the messages that go to workers, the first to send last.
 * @param meanMs of judging one completion so far; undefined before the first.
 */
export function messagesOf(count: number, meanMs: number | undefined): number[][] {
  const quick = meanMs === undefined ? 0 : Math.floor(MESSAGE_MS / meanMs);
  const size = Math.max(FEWEST, Math.min(MOST, quick));
  return Array.from({ length: Math.ceil(count / size) }, (_, i) =>
    Array.from({ length: Math.min(size, count - i * size) }, (_, k) => i * size + k),
  ).reverse();
}
