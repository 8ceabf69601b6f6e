import { z } from "zod";
import { checkedReference } from "../checked.ts";
import { extractAnswer } from "../response-format.ts";
import { correct, unparsable, type Verifier, wrong } from "../verifier.ts";
import { FACTS } from "./facts.ts";

const referenceSchema = z.object({
  tool: z.string().regex(/^\w+$/),
  arguments: z.record(z.string().regex(/^\w+$/), z.union([z.string(), z.number()])),
});
type Reference = z.infer<typeof referenceSchema>;

const MAX_ANSWER_CHARS = 1000;
const MAX_ARGUMENTS = 32;

/** Parses one `name='text'` or `name=123`; undefined otherwise. Numbers have no leading zeros. */
function parseArgument(text: string): readonly [string, string | number] | undefined {
  const match = /^\s*(\w+)=(?:'([^']*)'|(0|[1-9]\d{0,14}))\s*$/.exec(text);
  if (!match) return undefined;
  return [match[1]!, match[3] === undefined ? match[2]! : Number(match[3])];
}

/** Arguments by name, or undefined when any is malformed or given twice. Map, so that no name is special. */
function parseArguments(text: string): ReadonlyMap<string, string | number> | undefined {
  const parsed = new Map<string, string | number>();
  if (text.trim() === "") return parsed;
  const parts = text.split(",");
  if (parts.length > MAX_ARGUMENTS) return undefined;
  for (const part of parts) {
    const argument = parseArgument(part);
    if (!argument || parsed.has(argument[0])) return undefined;
    parsed.set(...argument);
  }
  return parsed;
}

/** One call `tool(name='text', name=123)`: the right tool and exactly the right typed arguments, in any order. */
export const toolCall: Verifier<Reference> = {
  ...FACTS.toolCall,
  parseReference: (raw) => checkedReference(referenceSchema, raw, "tool-call", "{ tool, arguments }"),

  verify(completion, reference) {
    const extracted = extractAnswer(completion, MAX_ANSWER_CHARS);
    if ("verdict" in extracted) return extracted.verdict;
    const call = /^(\w+)\(([^()]*)\)$/.exec(extracted.answer);
    if (!call) return unparsable("not a call");
    const given = parseArguments(call[2]!);
    if (!given) return unparsable("malformed arguments");
    if (call[1] !== reference.tool) return wrong("another tool");
    const expected = Object.entries(reference.arguments);
    if (given.size !== expected.length) return wrong(`${given.size} arguments for ${expected.length}`);
    const differing = expected.find(([name, value]) => given.get(name) !== value);
    return differing ? wrong(`argument ${differing[0]} differs`) : correct("call");
  },
};
