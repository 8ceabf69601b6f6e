import { atLevel, type Family } from "../../data/family.ts";
import type { Environment } from "../environment.ts";

/** Problems with two numbers and an operator, from the easiest level: 34+57, 81-26, 34*7, 34*57. */
export const computing: Family = {
  name: "compute",
  domain: "calculator",
  verifier: "environment",
  draw(random, level) {
    const left = random.int(10, 99);
    const right = level === 2 ? random.int(2, 9) : random.int(10, 99);
    const expression = `${left}${atLevel(["+", "-", "*", "*"], level)}${right}`;
    const value = String(computed(expression));
    return {
      question: `Compute ${expression}`,
      answer: value,
      steps: expression,
      reference: { expression, value },
    };
  },
};

/** One token of the quick start's vocabulary. */
const TOOL = "Compute";

interface Desk {
  readonly expression: string;
  readonly value: string;
  /** How well the first message matches the call that the problem needs, in [0, 1]. */
  called: number;
  answer: string | undefined;
}

/**
 * A calculator as a tool: "Compute" with an expression of whole numbers, + - * and parentheses gives its
 * value. A message without a call is the answer and ends the episode. Scores 1 for the right number, and less
 * than 0.7 for a call and an answer that are right in some characters, so that a policy that cannot call yet
 * gets a learning signal.
 */
export const calculator: Environment<Desk> = {
  tools: [
    {
      type: "function",
      function: {
        name: TOOL,
        description: "Computes an expression of whole numbers with + - * and parentheses.",
        parameters: {
          type: "object",
          properties: { expression: { type: "string" } },
          required: ["expression"],
        },
      },
    },
  ],
  reset({ reference }) {
    const { expression, value } = reference as { expression: string; value: string };
    return { expression, value, called: 0, answer: undefined };
  },
  step(desk, { turn, answer, calls, malformed }) {
    const [call] = calls;
    if (turn === 0) {
      const asked = call && String(call.arguments["expression"] ?? call.arguments["input"]);
      desk.called = asked === desk.expression ? 1 : inPlace(answer, `${TOOL}(${desk.expression})`);
    }
    if (malformed !== undefined) return { observation: `error: ${malformed}\n` };
    if (call === undefined) {
      desk.answer = answer;
      return { done: true };
    }
    if (call.name.toLowerCase() !== TOOL.toLowerCase()) return { observation: "error: no such tool\n" };
    const given = call.arguments["expression"] ?? call.arguments["input"];
    const value = typeof given === "string" ? computed(given) : undefined;
    return { observation: `${value ?? "error"}\n` };
  },
  score({ value, called, answer = "" }) {
    if (answer === value) return 1;
    return 0.3 * called + 0.4 * inPlace(answer, value);
  },
  /**
   * Calls the tool and answers with its result; with one turn, only answers. If careless, answers with the value of
   * another problem.
   */
  expert({ reference, level }, { turn, maxTurns, observations, careless, random }) {
    const { expression, value } = reference as Pick<Desk, "expression" | "value">;
    if (careless) return computing.draw(random, level).answer;
    if (turn + 1 === maxTurns) return value;
    const [seen] = observations;
    return seen?.trim() ?? { call: { name: TOOL, arguments: { expression } } };
  },
};

/** Fraction of characters at the right position. */
function inPlace(text: string, right: string): number {
  const same = [...right].filter((character, i) => text[i] === character).length;
  return same / Math.max(right.length, text.length);
}

const MOST_CHARS = 200;

/** Value of an expression; undefined if the text is not an expression. */
export function computed(expression: string): bigint | undefined {
  const text = expression.replace(/\s/g, "");
  if (text.length > MOST_CHARS || !/^[\d+*()-]+$/.test(text)) return undefined;
  const reader = new Reader(text);
  const value = reader.sum();
  return reader.ended ? value : undefined;
}

/** sum = product (("+" | "-") product)*; product = factor ("*" factor)*; factor = "-" factor | "(" sum ")" | digits. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get ended(): boolean {
    return this.#at === this.#text.length;
  }

  sum(): bigint | undefined {
    let value = this.#product();
    for (let sign = this.#take("+-"); sign !== "" && value !== undefined; sign = this.#take("+-")) {
      const next = this.#product();
      if (next === undefined) return undefined;
      value = sign === "+" ? value + next : value - next;
    }
    return value;
  }

  #product(): bigint | undefined {
    let value = this.#factor();
    while (value !== undefined && this.#take("*") !== "") {
      const next = this.#factor();
      value = next === undefined ? undefined : value * next;
    }
    return value;
  }

  #factor(): bigint | undefined {
    if (this.#take("-") !== "") {
      const value = this.#factor();
      return value === undefined ? undefined : -value;
    }
    if (this.#take("(") !== "") {
      const value = this.sum();
      return this.#take(")") === "" ? undefined : value;
    }
    const digits = /^\d+/.exec(this.#text.slice(this.#at))?.[0];
    this.#at += digits?.length ?? 0;
    return digits === undefined ? undefined : BigInt(digits);
  }

  #take(any: string): string {
    const next = this.#text[this.#at] ?? "";
    if (next === "" || !any.includes(next)) return "";
    this.#at += 1;
    return next;
  }
}
