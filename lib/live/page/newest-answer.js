/**
 * Shows what the newest of several questions brings: an answer that a later question overtook is dropped.
 * @template T
 * @param {() => Promise<T>} ask
 * @param {(answer: T) => void} show
 * @param {() => void} [over] told when the newest has its answer, or none
 * @returns {() => Promise<void>} asks; throws what `ask` throws
 */
export function newestAnswer(ask, show, over = () => {}) {
  let asked = 0;
  return async () => {
    asked += 1;
    const mine = asked;
    try {
      const answer = await ask();
      if (mine === asked) show(answer);
    } finally {
      if (mine === asked) over();
    }
  };
}

/**
 * The same for what is clicked on: until the newest answer is there what `list` shows is inert, since a click would open
 * what the reader no longer asks for.
 * @template T
 * @param {HTMLElement} list
 * @param {() => Promise<T>} ask
 * @param {(answer: T) => void} show
 * @returns {() => Promise<void>} asks; throws what `ask` throws
 */
export function newestSearch(list, ask, show) {
  const wait = (/** @type {boolean} */ waits) => {
    list.inert = waits;
    list.setAttribute("aria-busy", String(waits));
  };
  const search = newestAnswer(ask, show, () => wait(false));
  return () => {
    wait(true);
    return search();
  };
}
