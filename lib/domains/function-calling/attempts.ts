import { readJson } from "../../python/json.ts";
import { TOOL_CALL_FORMS } from "../../shared/models/tool-call-forms.ts";
import type { Entry } from "./entry.ts";
import { readPythonCalls } from "./python-calls.ts";

/** Marks of any form that calls may have, known or not, whole or begun. Repeats are bounded, so that time is linear. */
const MARKS: readonly RegExp[] = [
  ...(TOOL_CALL_FORMS.flatMap(({ open, close }) => [open, close]).filter(
    (mark) => mark !== undefined && !mark.source.includes("`"),
  ) as RegExp[]),
  /<[/|\s]{0,4}[\w:|-]{0,20}?(?:tools?|functions?|func|plugin|api)[\s_-]{0,3}(?:call|use|code|invo|request|start|begin|sep|section|respon|result|output)/i,
  /<[/|\s]{0,3}(?:call|execute|tools?|observation)(?:[\s>|]|$)/i,
  /<\|(?:im_start|start_header_id|start)\|>\s{0,2}(?:tool|ipython|function|observation)|commentary\s{0,2}(?:<\|constrain\|>)?\s{0,2}json/i,
  /<[/\s]{0,3}(?:\w{1,20}:|\|\w{1,20}\|)?(?:invoke|function|parameter|tool_name|tool_input|arg_key|arg_value|action)(?:[\s=>:|]|$)/i,
  /<\|[\s/]{0,3}(?:python_(?:tag|start)|(?:start_)?action|plugin|call|tool)/i,
  /^\W{0,8}(?:tool|function)_?calls?\W{0,8}$/i,
  /\[\/?(?:tool|function)[_\s-]?(?:call|request|use)|\[(?:ARGS|CALL_ID)\]/i,
  /```\s{0,3}(?:tool|function)_?(?:code|call|use)/i,
  /\bfunctools\s{0,3}\[|\bto\s?=\s?functions?\b/i,
  /\b(?:tool|function)_calls?["']?\s{0,3}[:=]\s{0,3}["']?[[{(]/i,
  /^[\s*#>-]{0,8}action[ _]input\b/im,
  /^[\s*#>-]{0,8}action[*\s]{0,4}:[\s*`]{0,6}(?:json\s{0,4})?[[{]/im,
  /^\s{0,4}>>>\s{0,3}[\w.]{1,80}\n\s{0,4}\{/m,
  /^[\w.$-]{1,80}\n\s{0,4}\{\s{0,4}["'}]/m,
  /^[\s`>]{0,8}\[\s{0,4}[a-z_][\w.]{0,80}\s?\(/im,
];

const NAMED =
  /["'](?:name|tool_name|function_name|function|tool|action|recipient_name)["']\s{0,4}:\s{0,4}["'{]/i;
const GIVEN =
  /["'](?:arguments|parameters|args|params|kwargs|input|inputs|tool_input|action_input)["']\s{0,4}:\s{0,4}(?:["']?\s{0,4}[{[]|$)/i;

/**
 * The part of a text that begins a call in any form, complete or not; undefined for a text without a call. Prose may
 * name the functions, `f`, `f()` or `f(city)`; with a value in the parentheses it is a call.
 */
export function attemptIn(text: string, entry: Entry): string | undefined {
  const folded = fold(text);
  if (MARKS.some((mark) => mark.test(text) || mark.test(folded))) return "marks of a call";
  if (NAMED.test(folded) && GIVEN.test(folded)) return "a call in JSON";
  if (offeredCalls(entry).some((call) => call.test(folded))) return "a call of a function";
  if (isBegun(folded.trim()) || isNameOf(entry, folded.trim())) return "a call that does not end";
  return readPythonCalls(folded.trim()).kind === "calls" ? "nothing but a call" : undefined;
}

/** Text before the function's name in each form of call. */
const OPENINGS: readonly string[] = TOOL_CALL_FORMS.map(({ write }) => fold(write("\0", {})).split("\0")[0]!);
/** A text that begins as JSON of calls or as a list of calls in Python. */
const BEGUN = /^(?:```\w{0,8}\s{0,4})?(?:\{|\[\s{0,4}\{|\[\s{0,4}[a-z_][\w.]{0,80}$)/i;

/** True if a text ends within the opening of a form, or is unterminated JSON. */
function isBegun(text: string): boolean {
  const at = Math.max(text.lastIndexOf("<"), text.lastIndexOf("["));
  const tail = at < 0 ? "" : text.slice(at);
  if (tail.length > 1 && OPENINGS.some((opening) => opening.startsWith(tail))) return true;
  return BEGUN.test(text) && readJson(text.replace(/^```\w{0,8}\s|\s*```$/g, "")) === undefined;
}

/**
 * True if a text consists only of a function's name or its beginning, or of a line with its name, a punctuation mark
 * and a value.
 */
function isNameOf({ functions }: Entry, text: string): boolean {
  const bare = text.replace(/^["'`]{1,8}|["'`]{1,8}$/g, "");
  const names = functions.flatMap(({ name }) => [name, name.replaceAll(".", "_")]);
  if (bare !== "" && names.some((name) => name.startsWith(bare))) return true;
  const line = /^([/$!@#[({<]{0,2}\s?)([\w.]{1,80})(\s?[:|>=([]|\s?->)?[^\n]{0,80}$/.exec(bare);
  return line !== null && names.includes(line[2]!) && (line[1] !== "" || line[3] !== undefined);
}

/** Removes disguises of marks: invisible characters, full-width and escaped ones, curly quotes. */
function fold(text: string): string {
  return text
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .normalize("NFKC")
    .replace(/[▁＿]/g, "_")
    .replace(/[“”„‟]/g, '"')
    .replace(/[‘’‚‛]/g, "'")
    .replace(/&lt;/gi, "<")
    .replace(/&gt;/gi, ">")
    .replace(/&quot;/gi, '"')
    .replace(/\\(?=["'_[\]<>{}`])/g, "");
}

/** Calls of functions that are offered, by name: in JSON, before arguments in JSON, before values in parentheses. */
function offeredCalls(entry: Entry): readonly RegExp[] {
  const { functions } = entry;
  if (functions.length === 0) return [];
  const names = functions.flatMap(({ name }) => [name, name.replaceAll(".", "_")]);
  const name = `(?:${[...new Set(names)].map(escaped).join("|")})`;
  const alone = `(?<!\\w)${name}(?!\\w)`;
  const parameters = functions.flatMap((one) => [...one.parameters.keys()]).map(escaped);
  const parameter = parameters.length === 0 ? "(?!)" : `(?:${parameters.join("|")})`;
  const object = "\\{\\s{0,4}(?:[\"'}]|\\w{1,60}\\s{0,3}[:=]|$)";
  const value = "(?:[\"'\\d[{-]|(?:true|false|none|null)\\b)";
  return [
    `["'](?:name|tool_name|function_name|function|tool|action|recipient_name)["']\\s{0,4}:\\s{0,4}["'](?:functions\\.)?${name}["']`,
    `["']${name}["']\\s{0,4}:\\s{0,4}\\{`,
    `(?:^|function)${name}["'\`*\\s]{0,4}(?::\\d+)?\\s{0,4}(?:\`\`\`\\w{0,8}\\s{0,4})?${object}`,
    `${alone}["'\`*\\s]{0,4}(?::\\d+)?\\s{0,4}(?:[:=]|[-=]>|json|<[^<>\\n]{0,40}>)?\\s{0,4}(?:\`\`\`\\w{0,8}\\s{0,4})?${object}`,
    `${alone}\\s{0,2}\\(\\s{0,4}[a-z_]\\w{0,60}\\s{0,2}=(?!=)(?!\\s{0,2}(?:\\.{3}|…|<))`,
    `${alone}\\s{0,2}\\(\\s{0,4}${value}`,
    `^[\\s\`]{0,8}${name}\\s?\\(\\s{0,4}\\)[\\s\`;]{0,8}$`,
    `<[/\\s]{0,3}${name}(?:[\\s/>]|$)`,
    `\\bto\\s?=\\s?${name}(?!\\w)`,
    `${alone}[^.!?]{0,60}?(?:(?:--|\\b)${parameter}\\s?=(?!=)\\s?(?!\\.{3}|…|<)\\S|--${parameter}\\b|\\n[\\s-]{0,8}${parameter}\\s?:\\s?\\S)`,
    `\\b(?:tool|function|action|name)\\s?[:=]\\s?["'\`]?${name}["'\`]?\\s{0,4}[,;\\n]\\s{0,4}["'\`]?(?:input|args?|arguments|param\\w{0,10})\\s?[:=]`,
    `^[\\s*#>-]{0,8}action[*\\s]{0,4}:[\\s*\`]{0,6}${name}\\b`,
  ].map((pattern) => new RegExp(pattern, "im"));
}

const escaped = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Closed empty blocks of every JSON form; a list in one may be empty. */
const EMPTY: readonly RegExp[] = [
  ...new Set(
    TOOL_CALL_FORMS.filter(({ body, open, close }) => body.kind === "json" && open && close).map(
      ({ open, close }) => `${open!.source}\\s*(?:(\\[\\s*\\])\\s*)?${close!.source}`,
    ),
  ),
].map((pattern) => new RegExp(pattern, "gi"));

/** Thought channels of gpt-oss, and the headers of its messages. */
const UNSPOKEN =
  /<\|channel\|>analysis<\|message\|>[\s\S]*?(?:<\|end\|>|$)|<\|start\|>\w{1,20}|<\|channel\|>(?:final|commentary(?=<\|message\|>))/g;

/** The text without thoughts and empty call blocks, and whether one of them, or the whole text, is an empty list. */
export function withoutEmptyBlocks(text: string): { readonly rest: string; readonly isStated: boolean } {
  let isStated = /^\s*\[\s*\]\s*$/.test(text);
  let rest = text.replace(UNSPOKEN, "");
  for (const empty of EMPTY)
    rest = rest.replace(empty, (_, list?: string) => {
      isStated ||= list !== undefined;
      return "";
    });
  return { rest, isStated };
}
