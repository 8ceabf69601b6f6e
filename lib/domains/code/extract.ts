import { trim } from "../../python/text.ts";

/** The answer ends at the first of these marks; the last entry is a horizontal rule in markdown. */
const ENDS = ["[END FINAL RESPONSE]", "<|end|>", "</s>", "<|im_end|>", "<|endoftext|>", "\n---\n"];

/**
 * The program in a text: the last code block, preferring those that are not interpreter sessions. Undefined if there
 * is none or it is empty.
 * Source: PipelineRL, domains/coding.
 */
export function lastProgram(text: string, blocksOf: (answer: string) => string[]): string | undefined {
  let answer = text;
  for (const end of ENDS) {
    const at = answer.indexOf(end);
    if (at >= 0) answer = answer.slice(0, at);
  }
  const blocks = blocksOf(answer).map(trim);
  const code = blocks.findLast((block) => !block.includes(">>>")) ?? blocks.at(-1);
  return code === "" ? undefined : code;
}

/**
 * Any fence followed by a line break opens a block and the next fence closes it, so text between two blocks may be
 * read as a block.
 */
export function looseBlocks(text: string): string[] {
  return Array.from(text.matchAll(/```(?:python|py)?\n([\s\S]*?)```/gi), ([, block]) => block!);
}

/**
 * Blocks whose info string begins with Python; if there are none, blocks without info string. Fences are paired, so
 * that the end of a block in another language opens nothing; indented blocks are dedented.
 * Source: CommonMark 0.31, fenced code blocks.
 */
export function pythonBlocks(text: string): string[] {
  const blocks = fencedBlocks(text);
  const tagged = blocks.filter(({ info }) => /^\W*(?:python3?|py3?)(?![\w+-])/i.test(info));
  const chosen = tagged.length > 0 ? tagged : blocks.filter(({ info }) => info.trim() === "");
  return chosen.map(({ body }) => dedent(body));
}

interface FencedBlock {
  /** The info string after the opening fence. */
  readonly info: string;
  readonly body: string;
}

/**
 * Backticks open a block anywhere in a line, tildes only at its start; the next fence of at least that length closes
 * it. Removes the quotation marks `>` from a block inside a quotation.
 */
function fencedBlocks(text: string): FencedBlock[] {
  const opening = /(?<!`)(`{3,})(?!`)([^\n`]*)\n|^[^\S\n>]*(?:>[^\S\n>]*)*(~{3,})(?!~)([^\n]*)\n/gm;
  const blocks: FencedBlock[] = [];
  for (let open = opening.exec(text); open; open = opening.exec(text)) {
    const fence = open[1] ?? open[3]!;
    const start = opening.lastIndex;
    const end = text.indexOf(fence, start);
    if (end < 0) continue;
    const depth = quotations(text.slice(text.lastIndexOf("\n", open.index - 1) + 1, start));
    blocks.push({ info: open[2] ?? open[4]!, body: unquoted(text.slice(start, end), depth) });
    opening.lastIndex = end + /^(.)\1*/.exec(text.slice(end))![0].length;
  }
  return blocks;
}

/** Depth of block quotes of a line. */
const quotations = (line: string): number =>
  (/^[^\S\n>]*(?:>[^\S\n>]*)*/.exec(line)![0].match(/>/g) ?? []).length;

function unquoted(body: string, depth: number): string {
  if (depth === 0) return body;
  const marks = new RegExp(`^(?: {0,3}> ?){1,${depth}}`, "gm");
  return body.replace(marks, "");
}

/** The lines without the white space that all of them begin with; blank lines do not count. */
function dedent(body: string): string {
  const lines = body.split("\n");
  const margins = lines.filter((line) => line.trim() !== "").map((line) => /^[ \t]*/.exec(line)![0]);
  const margin = margins.reduce((a, b) => commonStart(a, b), margins[0] ?? "");
  return margin === "" ? body : lines.map((line) => line.slice(margin.length)).join("\n");
}

function commonStart(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return a.slice(0, length);
}
