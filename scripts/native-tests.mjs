// What the C++ test programs are called and what ctest says of them.

/** Targets of the programs of some rooms: "core/json.test.cc" -> "test_core_json", as CMakeLists.txt names them. */
export function testPrograms(sources, rooms) {
  return sources
    .map((source) => source.replaceAll("\\", "/"))
    .filter((source) => source.endsWith(".test.cc"))
    .filter(
      (source) => rooms.includes(source.split("/")[0]) || rooms.includes(source.slice(0, -".test.cc".length)),
    )
    .map((source) => `test_${source.slice(0, -".test.cc".length).replaceAll("/", "_")}`)
    .sort();
}

/** What ctest -R takes for the same rooms and programs. */
export function testPattern(rooms) {
  return `^(${rooms.map((room) => (room.includes("/") ? `${room.replaceAll("/", "_")}$` : `${room}_`)).join("|")})`;
}

/** " 3/97 Test #12: core_json ...   Passed    0.21 sec" -> "3/97 core_json passed 0.21 s"; undefined of other lines. */
export function programResult(line) {
  const found = /^\s*(\d+\/\d+) Test +#\d+: (\S+) \.*\**\s*(.*?) +([\d.]+) sec\s*$/.exec(line);
  if (found === null) return undefined;
  const [, at, name, result, seconds] = found;
  return `${at} ${name} ${result.replace(/^\**/, "").toLowerCase()} ${seconds} s`;
}

/** Cases in what the programs printed; a run that failed has at least one failed. */
export function countCases(text, isGood) {
  const count = { passed: 0, failed: 0, skipped: 0 };
  for (const [, cases, , skipped] of text.matchAll(/^(\d+) cases, (\d+) failures, (\d+) skipped$/gm)) {
    count.passed += Number(cases) - Number(skipped);
    count.skipped += Number(skipped);
  }
  const broken = [...text.matchAll(/^FAIL /gm)].length;
  count.failed = isGood ? 0 : Math.max(1, broken);
  count.passed -= broken;
  return count;
}

/** Why cases were skipped, with how many: "skipped 12: no golden data". */
export function skipLines(text) {
  const reasons = new Map();
  for (const [, reason] of text.matchAll(/^ *skipped: (.+)$/gm))
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  return [...reasons].map(([reason, cases]) => `skipped ${cases}: ${reason}`);
}
