/**
 * Shows the answer to the newest of several questions: drops an answer that a later question overtook.
 * @template T
 * @param {() => Promise<T>} ask
 * @param {(answer: T) => void} show
 * @param {() => void} [over] called when the newest question has an answer, or failed
 * @returns {() => Promise<void>} asks; throws the errors of `ask`
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
 * The same for clickable results: `list` is inert until the newest answer arrives, since a click would open an
 * outdated result.
 * @template T
 * @param {HTMLElement} list
 * @param {() => Promise<T>} ask
 * @param {(answer: T) => void} show
 * @returns {() => Promise<void>} asks; throws the errors of `ask`
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
