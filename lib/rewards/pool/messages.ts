/**
 * Milliseconds that judging one message takes, as far as one knows: long enough that the message, which wakes four
 * threads, costs little beside it; short enough that the counts follow soon, and that little is judged again where one
 * completion ends the worker.
 */
const MESSAGE_MS = 20;
const MOST = 256;
/** While nobody knows how long a completion takes. */
const FIRST = 32;

/**
 * Indices 0 to count - 1 in the messages that go to workers, the first to send last.
 * @param meanMs of judging one completion so far; undefined before the first.
 */
export function messagesOf(count: number, meanMs: number | undefined): number[][] {
  const size = meanMs === undefined ? FIRST : Math.max(1, Math.min(MOST, Math.floor(MESSAGE_MS / meanMs)));
  return Array.from({ length: Math.ceil(count / size) }, (_, i) =>
    Array.from({ length: Math.min(size, count - i * size) }, (_, k) => i * size + k),
  ).reverse();
}
