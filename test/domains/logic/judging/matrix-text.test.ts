import { describe, expect, test } from "vitest";
import {
  cellGrids,
  nestedSpans,
  readMatrix,
  strip,
} from "../../../../lib/domains/logic/judging/matrix-text.ts";

describe("nestedSpans", () => {
  test.each([
    ["square", "a [[1]] b [ [2],[3] ] c", ["[[1]]", "[ [2],[3] ]"]],
    ["square", "[[1] [[2]]", ["[[1] [[2]]"]],
    ["square", "[[1]]]]", ["[[1]]"]],
    ["square", "[[1] [2", []],
    ["square", "[1], [2]", []],
    ["squareDigit", '[["1"]] [[ 1]]', ["[[ 1]]"]],
    ["roundNumber", "((a,1)) ((1 ,2), (3)) ((4))", ["((1 ,2), (3))"]],
    ["roundNumber", "((1,2), (3,4) ) x", ["((1,2), (3,4) )"]],
  ] as const)("%s: %s", (opening, text, found) => {
    expect(nestedSpans(text, opening)).toEqual(found);
  });
});

describe("cellGrids", () => {
  test.each([
    ["[[1,2],[3]]", [[["1", "2"], ["3"]]]],
    ["[ [ 1 , 2 ] ,\n[3] ]", [[["1", "2"], ["3"]]]],
    ["[[1]] and [[2]]", [[["1"]], [["2"]]]],
    ["[[[1]]", [[["1"]]]],
    ["[[1],[x]] [[2]]", [[["2"]]]],
    ["[[1],[[2]]", [[["2"]]]],
    ["[[1,]]", []],
    ["[[1],]", []],
    ["[[]]", []],
    ["[]", []],
    ["[[1", []],
  ])("%s", (text, grids) => {
    expect(cellGrids(text, /\d/y)).toEqual(grids);
  });
});

describe("readMatrix", () => {
  test.each([
    [
      "[[1, -2], ['a', True]]",
      [
        [1, -2],
        ["a", 1],
      ],
      [
        [1, -2],
        ["a", 1],
      ],
    ],
    ["[[1.0, None], [[1]]]", [[null, null], [null]], [[null, null], [null]]],
    ["((1, 2), [3])", undefined, [[1, 2], [3]]],
    ["[(1,), (2,)]", undefined, [[1], [2]]],
    ["[]", [], []],
    ["[1, 2]", undefined, undefined],
    ["['ab']", undefined, undefined],
    ["[[1] * 3]", undefined, undefined],
    ["[[a]]", undefined, undefined],
    ["m = [[1]]", undefined, undefined],
  ])("%s", (text, lists, any) => {
    expect(readMatrix(text, "list")).toEqual(lists);
    expect(readMatrix(text, "any")).toEqual(any);
  });
});

test.each([
  ["[[a],", "a"],
  ["[,]", ""],
  ["", ""],
  ["a[b", "a[b"],
])("%j stripped of brackets and commas is %j", (text, rest) => {
  expect(strip(text, "[],")).toBe(rest);
});

test("a megabyte of openings, closings or blanks takes linear time", () => {
  const started = performance.now();
  for (const text of ["[", "]", "[[", "[ ", "[[1],", "((1,", "] ", " "].map((part) =>
    part.repeat(1e6 / part.length),
  )) {
    nestedSpans(text, "square");
    nestedSpans(text, "squareDigit");
    nestedSpans(text, "roundNumber");
    cellGrids(text, /\d+/y);
    readMatrix(text, "any");
  }
  expect(performance.now() - started).toBeLessThan(15_000);
});
