/** True if an element is visible or nearly so; on paper every element is. */
export class Sight {
  isSeen = false;
  #observer;
  #stopPrinting = new AbortController();

  /** @param {Element} node @param {() => void} onSeen whenever it comes into sight */
  constructor(node, onSeen) {
    const see = (/** @type {boolean} */ isSeen) => {
      this.isSeen = isSeen;
      if (isSeen) onSeen();
    };
    // several entries may arrive at once, the latest last
    this.#observer = new IntersectionObserver((entries) => see(entries.at(-1)?.isIntersecting ?? false), {
      rootMargin: "300px",
    });
    this.#observer.observe(node);
    const { signal } = this.#stopPrinting;
    addEventListener("beforeprint", () => see(true), { signal });
    const observeAnew = () => {
      this.#observer.unobserve(node);
      this.#observer.observe(node);
    };
    addEventListener("afterprint", observeAnew, { signal });
  }

  close() {
    this.#observer.disconnect();
    this.#stopPrinting.abort();
  }
}
