import { textTable } from "../report/index.ts";
import { visibleText } from "../shared/text/visible-text.ts";
import type { UsefulGroups } from "../suites/index.ts";

const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)} %`;

/** One line per suite, and the basis of the estimate; lines of at most `columns`. */
export function usefulText(suites: readonly UsefulGroups[], groupSize: number, columns: number): string {
  const head = [
    "suite",
    "problems",
    "answers each",
    "never solved",
    "always solved",
    `useful of ${groupSize}`,
  ];
  const rows = suites.map(({ suite, problems, answers: [least, most], ...fractions }) => [
    suite,
    problems.toLocaleString("en"),
    least === most ? String(most) : `${least} to ${most}`,
    percent(fractions.neverSolved),
    percent(fractions.alwaysSolved),
    percent(fractions.useful),
  ]);
  const estimated = suites.reduce((sum, one) => sum + one.estimated, 0);
  const note = `${estimated.toLocaleString("en")} problems have fewer than ${groupSize} answers: estimated with a uniform prior for their solve rates (hone eval --attempts ${groupSize} measures them).`;
  const lines = textTable({ head, rows }, columns);
  return visibleText([...lines, ...(estimated > 0 ? ["", note] : [])].join("\n"));
}
