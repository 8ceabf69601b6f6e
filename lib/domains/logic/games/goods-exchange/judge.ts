import { z } from "zod";
import { readLiteral } from "../../../../python/literal.ts";
import type { PythonValue } from "../../../../python/value.ts";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { pythonBlockLines } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "goods_exchange";
const MAX_CHARS = 10_000;

type Pair = readonly [person: string, item: string];

const schema = z.object({
  metadata: z.object({ owns_after: z.string().transform((text) => new Map(lowerCase(readPairs(text)))) }),
});
type Data = z.output<typeof schema>;

/**
 * The final owners of items: the last ```` ```python ```` block is a tuple of (person, item), quoted or not, with the
 * stored owners, in any order and case. Strict rejects a person named twice; in reference the last item counts.
 */
export const goodsExchange: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) => judgeOwners(answer, data, { allowsTwice: false }),
  judgeAsReference: (answer, data) => judgeOwners(answer, data, { allowsTwice: true }),
};

function judgeOwners(
  answer: string,
  { metadata }: Data,
  { allowsTwice }: { allowsTwice: boolean },
): ScoredVerdict {
  const block = pythonBlockLines(answer).at(-1)?.trim() ?? "";
  if (!block.startsWith("(") || !block.endsWith(")")) return wrong("no tuple in a ```python block");
  if (block.length > MAX_CHARS) return wrong("answer too long");
  const pairs = readPairs(block);
  const owners = new Map(pairs);
  const gold = metadata.owns_after;
  if (owners.size !== gold.size) return wrong(`${owners.size} owners of ${gold.size}`);
  if (!allowsTwice && pairs.length !== gold.size) return wrong("a person named twice");
  const given = new Map(lowerCase([...owners]));
  const same = [...gold].every(([person, item]) => given.get(person) === item);
  return same ? correct("the owners") : wrong("other owners");
}

const lowerCase = (pairs: readonly Pair[]): Pair[] =>
  pairs.map(([person, item]) => [person.toLowerCase(), item.toLowerCase()]);

/** The pairs of a Python literal; if it is not one or has other values than texts, splits the text by hand. */
function readPairs(text: string): Pair[] {
  const literal = readLiteral(text.trim());
  const pairs: Pair[] = [];
  if ("fault" in literal) return splitPairs(text.trim());
  if (literal.value.type !== "tuple") return pairs;
  for (const pair of literal.value.items) {
    if (pair.type !== "tuple" || pair.items.length !== 2) continue;
    const [person, item] = pair.items as [PythonValue, PythonValue];
    if (person.type !== "str" || item.type !== "str") return [...pairs, ...splitPairs(text.trim())];
    pairs.push([person.value.trim(), item.value.trim()]);
  }
  return pairs;
}

/**
 * Reads `((a,b),(c,d))` without quotes: takes each parenthesised pair inside the outer parentheses and splits it at
 * its commas.
 */
function splitPairs(text: string): Pair[] {
  const inner = text.replace(/^\(/, "").replace(/\)$/, "");
  const pairs: Pair[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < inner.length; i++) {
    if (inner[i] === "(") depth++;
    else if (inner[i] === ")" && --depth === 0) {
      const parts = splitAtCommas(
        inner
          .slice(start, i + 1)
          .replace(/^[,\s]+/, "")
          .replace(/^\(/, "")
          .replace(/\)$/, ""),
      );
      if (parts.length >= 2) pairs.push([unquoted(parts[0]!), unquoted(parts[1]!)]);
      start = i + 1;
    }
  }
  return pairs;
}

/** Splits a text at commas, except at those between quotes of either kind. */
function splitAtCommas(text: string): string[] {
  const parts: string[] = [];
  let quoted = false;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const escaped = i > start && text[i - 1] === "\\";
    if ((text[i] === '"' || text[i] === "'") && !escaped) quoted = !quoted;
    if (text[i] === "," && !quoted) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  return start < text.length ? [...parts, text.slice(start)] : parts;
}

const unquoted = (text: string): string => text.trim().replace(/^['"]+|['"]+$/g, "");
