import type { ChaosReport } from "../fleet/chaos.ts";
import { flow, textTable } from "../report/index.ts";
import { visibleText } from "../visible-text.ts";

/** A row a seed, then all there is to know of those that failed; lines of at most `columns`. */
export function chaosText(reports: readonly ChaosReport[], columns: number): string {
  const rows = reports.map(({ seed, faults, struck, steps, checks }) => [
    `seed ${seed}`,
    checks.every(({ passed }) => passed) ? "holds" : "FAILS",
    `${struck}/${faults.length}`,
    String(steps),
    `${checks.filter(({ passed }) => passed).length}/${checks.length}`,
  ]);
  const table = textTable({ head: ["chaos", "result", "faults met", "steps", "checks"], rows }, columns);
  const one = reports.length === 1 ? reports : reports.filter(({ checks }) => checks.some((c) => !c.passed));
  return visibleText([...table, ...one.flatMap((report) => detail(report, columns))].join("\n"));
}

function detail({ seed, faults, checks }: ChaosReport, columns: number): string[] {
  const said = checks.map(
    ({ name, passed, found }) => `${passed ? "  holds" : "  FAILS"}  ${name}: ${found}`,
  );
  return [
    "",
    `seed ${seed}`,
    ...said.flatMap((line) => flow(line.split(" "), columns, " ")),
    ...flow(faults, columns),
  ];
}
