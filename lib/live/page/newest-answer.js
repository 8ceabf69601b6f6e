/**
 * Shows what the newest of several questions brings. Until its answer is there what `list` shows is inert: a click would
 * open what the reader no longer asks for. An answer that a later question overtook is dropped.
 * @template T
 * @param {HTMLElement} list
 * @param {() => Promise<T>} ask
 * @param {(answer: T) => void} show
 * @returns {() => Promise<void>} asks; throws what `ask` throws
 */
export function newestAnswer(list, ask, show) {
  let asked = 0;
  const wait = (/** @type {boolean} */ waits) => {
    list.inert = waits;
    list.setAttribute("aria-busy", String(waits));
  };
  return async () => {
    asked += 1;
    const mine = asked;
    wait(true);
    try {
      const answer = await ask();
      if (mine === asked) show(answer);
    } finally {
      if (mine === asked) wait(false);
    }
  };
}
