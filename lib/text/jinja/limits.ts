import { TemplateFault } from "./values.ts";

/**
 * Parts of statements and expressions that one rendering may evaluate: this takes seconds, real templates take
 * milliseconds.
 */
const MOST_STEPS = 5_000_000;
const MOST_CHARACTERS = 1 << 27;
export const MOST_DEPTH = 200;

/** Counts the cost of one rendering. Each method throws TemplateFault beyond its limit. */
export class Limits {
  /** Line of the part in progress. */
  line = 1;
  #steps = 0;
  #characters = 0;
  #depth = 0;

  step(line: number): void {
    this.line = line;
    this.#steps += 1;
    if (this.#steps > MOST_STEPS)
      throw new TemplateFault(`the template did not end within ${MOST_STEPS} steps`);
  }

  write(text: string, out: string[]): void {
    this.#characters += text.length;
    if (this.#characters > MOST_CHARACTERS)
      throw new TemplateFault(`the text is longer than ${MOST_CHARACTERS} characters`);
    out.push(text);
  }

  /** Runs `render` one level deeper in recursive macros and loops. */
  deeper(render: () => void): void {
    if (this.#depth >= MOST_DEPTH)
      throw new TemplateFault(`macros or loops call themselves more than ${MOST_DEPTH} deep`);
    this.#depth += 1;
    render();
    this.#depth -= 1;
  }
}
