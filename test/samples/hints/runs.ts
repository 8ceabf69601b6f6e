import { type Hint, hints } from "../../../lib/samples/hints/hints.ts";
import { SampleIndex } from "../../../lib/samples/index.ts";
import { ConstructedRun, type Group } from "../constructed-run.ts";

/** The hints for a run whose steps train on these groups. */
export async function hintsOf(dir: string, steps: readonly (readonly Group[])[]): Promise<Hint[]> {
  {
    using run = new ConstructedRun(dir);
    for (const groups of steps) run.step(...groups);
  }
  return hints(await SampleIndex.open(dir));
}

export const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));
