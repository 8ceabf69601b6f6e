import { expect, test } from "vitest";
import { binding, loadHint, packageVersion } from "../../lib/native/load.ts";

test.each([
  ["No native build was found for platform=linux arch=x64", "not built"],
  ["/lib/libc.so.6: version `GLIBC_2.38' not found (required by hone.node)", "newer C or C++ library"],
  ["libstdc++.so.6: version `GLIBCXX_3.4.32' not found", "newer C or C++ library"],
  ["hone.node: invalid ELF header", "another platform"],
  ["Module did not self-register: 'hone.node'", "half written"],
  ["something nobody foresaw", "hone doctor"],
])("%s: says what to do", (message, hint) => {
  expect(loadHint(message)).toContain(hint);
});

test("the addon is loaded once", () => {
  expect(binding()).toBe(binding());
});

test("the version is the package's", () => {
  expect(packageVersion()).toMatch(/^\d+\.\d+\.\d+/);
});
