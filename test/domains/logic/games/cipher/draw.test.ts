import { expect, test } from "vitest";
import { cipher } from "../../../../../lib/domains/logic/games/cipher/draw.ts";
import { draws, LEVELS } from "../../drawing/draws.ts";

const shifted = (letter: string, by: number) =>
  String.fromCharCode(((((letter.charCodeAt(0) - 65 + by) % 26) + 26) % 26) + 65);

/** Undoes one rule, as its words describe it. */
function undo(rule: string, text: string): string {
  const by = /every letter (\d+) places/.exec(rule);
  if (by) return [...text].map((letter) => shifted(letter, -Number(by[1]))).join("");
  if (rule.startsWith("write the text backwards")) return [...text].reverse().join("");
  if (rule.startsWith("replace every letter"))
    return [...text].map((letter) => String.fromCharCode(155 - letter.charCodeAt(0))).join("");
  const key = /the key ([A-Z]+)/.exec(rule)?.[1];
  if (key) return [...text].map((letter, i) => shifted(letter, 65 - key.charCodeAt(i % key.length))).join("");
  const odd = Math.ceil(text.length / 2);
  return Array.from(text, (_, i) => text[i % 2 === 0 ? i / 2 : odd + (i - 1) / 2]).join("");
}

test.each(LEVELS)("at level %i undoing the rules from the last gives the stated text", (level) => {
  for (const { question, answer, solution, effort } of draws(cipher, level)) {
    const rules = [...question.matchAll(/^\d\. (.+)$/gm)].map(([, rule]) => rule!);
    const secret = /The result is ([A-Z]+)\./.exec(question)![1]!;
    const plain = rules.reduceRight((text, rule) => undo(rule, text), secret);
    expect(answer).toBe(`[[${plain}]]`);
    expect(solution).toBe(`\`\`\`python\n[["${plain}"]]\n\`\`\``);
    expect(effort).toBe(plain.length * rules.length);
  }
});
