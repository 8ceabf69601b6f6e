// Accepts right answers in every spelling, and refuses wrong ones in any formatting. Rules and answers are drawn from
// seeds; `npm run test:all` judges ten times as many. Deliberate faults (mutants) that these tests detect: a period,
// a font or a colour stays in; single letters count as units; units of two kinds are equal; bases are dropped;
// decimals are compared to six places; ellipses are dropped; 3:4:5 is read as a quotient; small and capital letters
// are equal.
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { math } from "../../lib/domains/math/verify.ts";
import { madeAnswer } from "../fixtures/math-answers.ts";
import { Dice } from "../fixtures/math-dice.ts";
import { DRESSES, type Dress, NUMBER_DRESSES } from "../fixtures/math-rewritings.ts";
import { longest } from "../long.ts";

const SCALE = longest ? 20 : 1;
const REWRITINGS = 1500 * SCALE;

function accepted(gold: string, answer: string): boolean {
  const verdict = math.verify(
    { text: `So \\boxed{${answer}}.`, finish: "stop" },
    math.parseReference({ answer: gold }),
  );
  return (verdict as { status: string }).status === "correct";
}

/** Right answers that were refused, and wrong ones that were accepted, before. */
describe("examples", () => {
  test.each([
    ["\\frac12", "\\frac12."],
    ["3", "3."],
    ["3", "\\bf 3"],
    ["3", "\\large 3"],
    ["3", "\\fbox{3}"],
    ["3", "\\boldsymbol{3}"],
    ["a+b+c", "a + b + c"],
    ["3x^2+c", "3x^2 + c"],
    ["30^\\circ", "30°"],
    ["90^\\circ", "90\\degree"],
    ["2\\sqrt{3}", "2√3"],
    ["\\frac{2}{3}", "0.\\overline{6}"],
    ["\\emptyset", "\\varnothing"],
    ["1000000", "1\\,000\\,000"],
    ["12000", "1.2e4"],
    ["3", "\\underline{3}"],
    ["3", "\\color{red}{3}"],
    ["[1,3]", "1\\le x\\le 3"],
    ["(1,2)", "\\begin{pmatrix}1\\\\2\\end{pmatrix}"],
    ["(0,1)", "]0,1["],
    ["7", "\\text{Answer: }7"],
    ["2:30 \\text{ p.m.}", "2{:}30 \\text{ p.m.}"],
    ["15\\text{ cm}^2", "15\\text{ square centimeters}"],
    ["60\\text{ km/h}", "60\\,\\frac{\\text{km}}{\\text{h}}"],
    ["3\\text{ hours}", "180\\text{ min}"],
    ["3\\text{ hours}", "3h"],
    ["12V", "12\\text{ V}"],
    ["\\frac{\\pi}{3}", "60^\\circ"],
    ["x<1 \\text{ or } x>3", "(-\\infty,1)\\cup(3,\\infty)"],
    ["5000000", "5\\text{ million}"],
    ["\\text{no solution}", "\\text{No solution.}"],
    ["2\\sqrt{3}", "2*sqrt(3)"],
    ["2\\sqrt{3}", "2\\sqrt(3)"],
    ["\\sqrt{x(x+1)}", "\\sqrt(x(x+1))"],
    ["(-\\sqrt[3]{2}, \\sqrt[3]{2})", "\\left(-\\sqrt[3]{2}, \\sqrt[3]{2}\\right)"],
    ["(-\\sqrt{3}, \\sqrt{3})", "(-\\sqrt[2]{3}, \\sqrt[2]{3})"],
    ["\\frac{11+9a}{20}", "{11+9a \\over 20}"],
    ["\\frac{x}{y}", "\\frac x y"],
    ["\\ln 2", "\\operatorname{ln} 2"],
    ["\\ln 2", "\\mathrm{ln}\\,2"],
    ["\\ln 2", "ln 2"],
    ["\\sin x", "\\operatorname{sin}(x)"],
    ["\\text{Navin}", "\\operatorname{Navin}"],
    ["5\\text{ cm}", "5\\,\\operatorname{cm}"],
    ["\\pm 2", "x=\\pm 2"],
    ["x=\\pm 2", "\\pm 2"],
    ["2,-2", "x = \\pm 2"],
    ["10!", "10!=3628800"],
    ["x^2+1", "x**2+1"],
    ["(1,2,3)", "\\begin{pmatrix} 1 \\\\[2pt] 2 \\\\[2pt] 3 \\end{pmatrix}"],
    ["\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "\\begin{pmatrix}1&2\\cr3&4\\end{pmatrix}"],
    ["12", "\\pounds 12"],
    ["\\$3.50", "\\mathdollar 3.50"],
    ["\\$3.50", "\\$3{.}50"],
    ["1234567", "1'234'567"],
    ["1234567", "1\u202f234\u202f567"],
    ["1234567", "1\\thinspace 234\\thinspace 567"],
    ["12", "１２"],
    ["(1,2)", "（1，2）"],
    ["4\\pi\\text{ cm}", "4\\pi cm"],
    ["10\\pi\\text{ cm}^2", "10π cm²"],
    ["25\\%", "25\\text{\\%}"],
    ["30^\\circ", "30\\text{°}"],
    ["30^\\circ", "30\\textdegree"],
    ["1011_2", "1011_\\text{two}"],
    ["1011_2", "1011_{\\text{base 2}}"],
    ["0.1\\overline{6}", "0.1\\bar6"],
    ["2:30\\text{ p.m.}", "2\\text{:}30\\text{ p.m.}"],
    ["-\\frac12", "\\text{-}\\frac12"],
    ["12", "\\textbf{Answer: 12}"],
    ["x=5", "\\text{x = 5}"],
    ["12", "\\bbox[yellow]{12}"],
    ["[1,3]", "x \\geq 1 \\text{ and } x \\leq 3"],
    ["(1,3)", "x > 1 and x < 3"],
  ])("%j accepts %j", (gold, answer) => expect(accepted(gold, answer)).toBe(true));

  test.each([
    ["2t", "2"],
    ["2t", "2 d"],
    ["f(x) = c", "f(x) = d"],
    ["1011_2", "1011"],
    ["1011_2", "1011_3"],
    ["0.1", "0.10000001"],
    ["5 \\text{ cm}", "5 \\text{ m}"],
    ["5 cm", "5 m"],
    ["3", "3\\text{ is wrong, 4}"],
    ["3", "3\\text{ is wrong}, 4"],
    ["561", "k = 561 \\approx 1.2345"],
    ["k = 561", "k = 561 \\approx 1.2345"],
    ["5", "5 m"],
    ["4S", "4"],
    ["R-r", "0"],
    ["3:4:5", "3:5:4"],
    ["2:30\\text{ p.m.}", "1:15\\text{ p.m.}"],
    ["60", "3\\text{ hours }20\\text{ minutes}"],
    ["1,2,9", "1,2,\\ldots,9"],
    ["56", "5\\hspace{1cm}6"],
    ["\\frac{1}{3}", "0.333334"],
    ["5", "x=7\\text{ cm}=5\\text{ cm}"],
    ["12", "13=12"],
    ["\\{1,2\\}", "x=3=1, y=2"],
    ["11+\\frac{9a}{20}", "{11+9a \\over 20}"],
    ["[1,3]", "x \\geq 1 \\text{ or } x \\leq 3"],
    ["(-\\infty,1)\\cup(3,\\infty)", "x<1 \\text{ and } x>3"],
    ["\\pm 2", "x=\\pm 3"],
    ["[1,3]", "x\\ge1 and y\\le3"],
    ["(-\\infty,1)\\cup(3,\\infty)", "x<1 or y>3"],
    ["2", "x=\\pm 2"],
    ["\\sqrt{3}+1", "\\sqrt(3+1)"],
    ["12", "1'2"],
    ["10!", "10! = 10"],
    ["\\ln 2", "\\operatorname{lm} 2"],
    ["4\\pi\\text{ cm}", "4\\pi m"],
    ["4\\pi\\text{ cm}", "4\\pi kg"],
  ])("%j refuses %j", (gold, answer) => expect(accepted(gold, answer)).toBe(false));

  test.each([
    ["I = \\frac{21\\pi}{8}", "I =\\frac{21\\pi}{8}"],
    ["f(0) + f(1) = 1", "f(0)+ f(1)=1"],
    ["e = \\frac12", "e=0.5"],
    ["12", "3\\cdot 4=12"],
  ])("%j and %j: a name or a term on the left is no second value", (gold, answer) =>
    expect(accepted(gold, answer)).toBe(true),
  );
});

/** Yields each spelling unchanged and with one rewriting. */
function* dressed(
  spellings: readonly string[],
  dresses: readonly Dress[],
  dice: Dice,
): Generator<[string, string]> {
  for (const spelling of spellings) {
    const [name, dress] = dice.pick(dresses);
    yield ["as it is", spelling];
    yield [name, dress(spelling, dice)];
  }
}

test(`${REWRITINGS} rewritings are accepted, and every wrong answer in the same dresses is refused`, () => {
  const dice = new Dice(20_260_711);
  const apart: string[] = [];
  const worn = new Set<string>();
  let [right, wrong] = [0, 0];
  for (let n = 0; right < REWRITINGS; n++) {
    const answer = madeAnswer(n, dice);
    const dresses = answer.number ? [...DRESSES, ...NUMBER_DRESSES] : DRESSES;
    for (const [dress, text] of dressed([answer.gold, ...answer.same], dresses, dice)) {
      worn.add(dress);
      right++;
      if (!accepted(answer.gold, text))
        apart.push(`${answer.kind}, ${dress}: ${answer.gold} refuses ${text}`);
    }
    for (const [dress, text] of dressed(answer.wrong, dresses, dice)) {
      wrong++;
      if (accepted(answer.gold, text)) apart.push(`${answer.kind}, ${dress}: ${answer.gold} accepts ${text}`);
    }
  }
  expect(apart).toEqual([]);
  expect(worn.size).toBe(1 + DRESSES.length + NUMBER_DRESSES.length);
  expect(wrong).toBeGreaterThan(2 * REWRITINGS);
}, 900_000); // takes seconds; a busy machine may take longer

const rows = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/data/math/orz_sample.jsonl");

test.skipIf(!existsSync(rows))("no dress changes the verdict on a training answer", () => {
  const lines = readFileSync(rows, "utf8").trim().split("\n");
  const golds = lines.map(
    (line) => (JSON.parse(line) as { 1: { ground_truth: { value: string } } })[1].ground_truth.value,
  );
  const written = [...new Set(golds)].filter((gold) => !/^\s*-?\d+\s*$/.test(gold));
  const dice = new Dice(7);
  const apart: string[] = [];
  for (const [i, gold] of written.entries()) {
    const other = written[(i + 1) % written.length]!;
    const [name, dress] = dice.pick(DRESSES);
    if (!accepted(gold, dress(gold, dice))) apart.push(`${name}: ${gold} refuses itself`);
    if (accepted(gold, dress(other, dice)) !== accepted(gold, other))
      apart.push(`${name}: ${gold} against ${other}`);
  }
  expect(apart).toEqual([]);
});
