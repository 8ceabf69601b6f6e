import { TemplateFault, type Value } from "./values.ts";

/**
 * Most statement and expression nodes that one rendering may evaluate. Evaluating so many takes seconds; real
 * templates take milliseconds.
 */
const MOST_STEPS = 5_000_000;
/** Most characters of one text, and of the output: tens of prompts, and few enough that a list of them fits an array of V8. */
const MOST_CHARACTERS = 1 << 24;
const MOST_ITEMS = 1 << 21;
/** Most items in all lists that one rendering creates. */
const MOST_ITEMS_MADE = 1 << 24;
/** Most characters in all texts that filters and methods of one rendering create; + and ~ copy nothing. */
const MOST_CHARACTERS_MADE = 1 << 28;
export const MOST_DEPTH = 200;

/** Throws TemplateFault for a text longer than any prompt, before it is made. */
export function expectCharacters(length: number): void {
  if (length > MOST_CHARACTERS)
    throw new TemplateFault(`a text of ${length} characters is too long: the most is ${MOST_CHARACTERS}`);
}

/** Throws TemplateFault for a list that no template needs, before it is made. */
export function expectItems(length: number): void {
  if (length > MOST_ITEMS)
    throw new TemplateFault(`a list of ${length} items is too long: the most is ${MOST_ITEMS}`);
}

/** Counts the cost of one rendering. Each method throws TemplateFault beyond its limit. */
export class Limits {
  /** Line of the template that is being rendered. */
  line = 1;
  #steps = 0;
  #characters = 0;
  #depth = 0;
  #items = 0;
  #made = 0;

  step(line: number): void {
    this.line = line;
    this.#steps += 1;
    if (this.#steps > MOST_STEPS)
      throw new TemplateFault(`the template did not end within ${MOST_STEPS} steps`);
  }

  /**
   * Counts a value that an operator, a filter or a call returned. @param copies whether a text is a copy of
   * its parts
   */
  make(value: Value, copies: boolean): void {
    if (typeof value === "string") {
      expectCharacters(value.length);
      if (copies) this.#made += value.length;
    } else if (Array.isArray(value)) this.#items += value.length;
    else if (value instanceof Map) this.#items += value.size;
    if (this.#items > MOST_ITEMS_MADE || this.#made > MOST_CHARACTERS_MADE)
      throw new TemplateFault("the template takes too much memory");
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
