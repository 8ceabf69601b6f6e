import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "web_of_lies";
const MAX_CHARS = 5000;
const schema = z.object({ answer: z.string() });
type Data = z.output<typeof schema>;

const YES = /^(?:yes|true|truth|是|真话|真)$/;
const NO = /^(?:no|false|lie|lies|否|假话|假|谎)$/;

/**
 * Asks who tells the truth: the answer's sequence of yes and no must be the stored one. It is in bold at the end
 * after "The answer is:", else in the last line (in bold, or after "The answer is"), else in the last run of yes and
 * no. Reference finds yes and no inside other words ("know", "believe"); strict requires these words alone, in bold,
 * after "The answer is", or in a line of their own.
 */
export const webOfLies: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) => judgeWords(statedAlone(answer), data),
  judgeAsReference: (answer, data) => judgeWords(wordsInside(stated(answer) ?? ""), data),
};

/** @param given "yn...", one letter per answer, as wordsInside and wordsAlone return it */
function judgeWords(given: string, data: Data): ScoredVerdict {
  if (given === "") return wrong("not a list of yes and no");
  const gold = wordsInside(data.answer);
  if (given.length !== gold.length) return wrong(`${given.length} answers for ${gold.length} questions`);
  return given === gold ? correct("who lies") : wrong("other people");
}

/** Reads every yes or no in the text, even inside other words, as "y" or "n", in order. */
function wordsInside(text: string): string {
  const found = text.toLowerCase().match(/yes|true|truth|是|真话|真|no|false|lie|否|假话|假|谎/g) ?? [];
  return found.map((word) => (YES.test(word) ? "y" : "n")).join("");
}

/** Like wordsInside, for a text that has no other words; "" for any other text. */
function wordsAlone(text: string): string {
  if (text.length > MAX_CHARS) return "";
  const words = text
    .toLowerCase()
    .split(/[\s,，、;；.。*"]+|\band\b|和/)
    .filter((word) => word !== "");
  return words.every((word) => YES.test(word) || NO.test(word))
    ? words.map((word) => (YES.test(word) ? "y" : "n")).join("")
    : "";
}

/** Reads the bold end of the text, or else the last line that has only yes and no in its answer. */
function statedAlone(text: string): string {
  const atEnd = wordsAlone(boldAtEnd(text) ?? "");
  if (atEnd !== "") return atEnd;
  for (const line of text.split("\n").reverse()) {
    const words = wordsAlone(inLine(line.trim()) ?? line);
    if (words !== "") return words;
  }
  return "";
}

function stated(text: string): string | undefined {
  return boldAtEnd(text) ?? inLine(text.trim().split("\n").at(-1)!.trim()) ?? lastRun(text.toLowerCase());
}

/** Finds `... answer is: **span**.` at the very end, or before a final line break. Reads backwards, without a search. */
function boldAtEnd(text: string): string | undefined {
  let end = text.endsWith("\n") ? text.length - 1 : text.length;
  while (end > 0 && (text[end - 1] === "." || text[end - 1] === "。")) end--;
  if (!text.startsWith("**", end - 2) || end < 5) return undefined;
  const open = text.lastIndexOf("*", end - 3);
  if (open < 1 || open === end - 3 || text[open - 1] !== "*") return undefined;
  const lead = text.slice(0, open - 1).trimEnd();
  if (!/(?:答案是[：:]|[Tt]he answer is[：:=])$/.test(lead.slice(-20))) return undefined;
  return text.slice(open + 1, end - 2).trim();
}

function inLine(line: string): string | undefined {
  const bold = /\*\*([^*]+)\*\*/.exec(line);
  if (bold) return bold[1]!.trim();
  const lead = /(?:答案是|[Tt]he answer is)[：:=]?\s*/.exec(line);
  if (!lead) return undefined;
  const rest = line.slice(lead.index + lead[0].length);
  return rest.split(/[.。]/, 1)[0]!.trim();
}

/** The last of the longest sequences of the words yes, no, 是, 否 separated only by commas and blanks. */
function lastRun(text: string): string | undefined {
  const word = /(?<![\p{L}\p{N}_])(?:yes|no|是|否)(?![\p{L}\p{N}_])/gu;
  let run: string[] = [];
  let end = -1;
  for (const match of text.matchAll(word)) {
    const joined = end >= 0 && /^[,，\s]*$/.test(text.slice(end, match.index));
    if (!joined) run = [];
    run.push(match[0]);
    end = match.index + match[0].length;
  }
  return end < 0 ? undefined : run.join(",");
}
