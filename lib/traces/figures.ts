import type { BarFigure } from "../report/index.ts";
import type { Measure, TraceMeasures } from "./measure.ts";

const ERROR = "Line: 95 %, bootstrap over problems.";

/** Categories by steps and by length, then steps per trace and length per step. */
export function tracesFigures({ unit, sides, sizes, ofSteps, ofLength }: TraceMeasures): BarFigure[] {
  const series = sides.map(({ name }) => name);
  const bars = (title: string, note: string, measures: readonly Measure[]): BarFigure[] => {
    const known = measures.filter((measure) => measure.sides.some((side) => side !== undefined));
    if (known.length === 0) return [];
    const rows = known.map((measure) => ({
      label: measure.name,
      bars: measure.sides.map(
        (side) => side && { value: side.value, low: side.interval?.low, high: side.interval?.high },
      ),
    }));
    return [{ title, note: `${note} ${ERROR}`, percent: measures[0]!.percent, series, rows }];
  };
  const sized = (name: string) => sizes.filter((measure) => measure.name.startsWith(name)).map(shortly);
  return [
    ...bars("What steps do", "Share of the classified steps.", ofSteps),
    ...bars(`What ${unit} are spent on`, `Share of the ${unit} in classified steps.`, ofLength),
    ...bars("Steps per trace", "Mean over traces.", sized("steps per trace")),
    ...bars(`Length of a step`, `All ${unit} over all steps.`, sized(`${unit} per step`)),
  ];
}

const shortly = (measure: Measure): Measure => {
  const name = measure.name.includes("right answers") ? "right answers" : "all";
  return { ...measure, name };
};
