import { expect, test } from "vitest";
import { runOf } from "../../lib/live/question.ts";
import { Watch } from "../../lib/live/watch.ts";
import { smallRun } from "./live-run.ts";

test("names a run by its place, the first if it names none", () => {
  const watch = new Watch([smallRun(1), smallRun(2)]);
  const of = (query: string) => runOf({ query: new URLSearchParams(query), watch }).run;
  expect([of(""), of("run=1")]).toEqual([0, 1]);
  for (const wrong of ["run=2", "run=-1", "run=x", "run=__proto__"])
    expect(() => of(wrong)).toThrow(expect.objectContaining({ code: "HONE_ERR_USAGE" }));
});
