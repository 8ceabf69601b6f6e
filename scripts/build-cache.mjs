// Decides whether CMake can use the cache in a build folder. A checkout or node_modules that was copied or moved contains
// the cache of its old path, with which CMake refuses to build.
import { existsSync, readFileSync, realpathSync, rmSync } from "node:fs";
import path from "node:path";

/** The programs that the cache names by path; CMake cannot build without them. */
const PROGRAMS = ["CMAKE_CXX_COMPILER", "CMAKE_MAKE_PROGRAM", "HONE_CCACHE"];

/** Says why the cache in `build` cannot be used for `source`; undefined if it can, or if there is no cache. */
export function foreignCache(build, source) {
  const file = path.join(build, "CMakeCache.txt");
  if (!existsSync(file)) return undefined;
  const entries = Object.fromEntries(
    [...readFileSync(file, "utf8").matchAll(/^(\w+):\w+=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  const { CMAKE_CACHEFILE_DIR: folder, CMAKE_HOME_DIRECTORY: home } = entries;
  if (folder === undefined || home === undefined) return "it was left half written";
  if (!isSame(folder, build)) return `it was made in ${folder}`;
  if (!isSame(home, source)) return `it was made for ${home}`;
  const gone = PROGRAMS.map((name) => entries[name]).find((at) => at?.startsWith("/") && !existsSync(at));
  return gone === undefined ? undefined : `${gone} is gone`;
}

function isSame(a, b) {
  return existsSync(a) && existsSync(b) && realpathSync(a) === realpathSync(b);
}

/** Removes a build folder with an unusable cache and prints the reason; the next build compiles everything again. */
export function discardForeignCache(build, source, say = console.log) {
  const reason = foreignCache(build, source);
  if (reason === undefined) return;
  say(`hone: ${path.relative(source, build)} is of no use here (${reason}): starting over`);
  rmSync(build, { recursive: true, force: true });
}
