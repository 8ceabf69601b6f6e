import { expect, test } from "vitest";
import { needsTestlib } from "../../../lib/domains/code/testlib-header.ts";

test.each([
  ['#include "testlib.h"\n', true],
  ["  #  include <testlib.h>", true],
  ["#include <string>\n#include<testlib.h>\n", true],
  ["#include <string>", false],
  ['// #include "testlib.h"', false],
  ['#include "my_testlib.h"', false],
])("%j includes testlib.h: %j", (source, needs) => {
  expect(needsTestlib(source)).toBe(needs);
});
