import { type Question, runOf } from "../question.ts";
import type { SeriesAnswer } from "../wire.ts";

/** Metrics of a run by name, all its steps; a name that no step has is left out. */
export function series(question: Question): SeriesAnswer {
  const { table } = runOf(question);
  const found = question.query.getAll("name").flatMap((name) => {
    const values = table.column(name);
    return values === undefined ? [] : [[name, values] as const];
  });
  return { steps: table.steps, versions: table.versions, series: Object.fromEntries(found) };
}
