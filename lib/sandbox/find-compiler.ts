import { existsSync } from "node:fs";
import { HoneError } from "../errors.ts";

/** Paths at which a compiler is looked for; all are in /usr, the only folder of the host that the sandbox shows. */
const COMPILERS = ["g++", "clang++"].flatMap((name) => [`/usr/bin/${name}`, `/usr/local/bin/${name}`]);

/** The C++ compiler of this machine. Throws HONE_ERR_CONFIG if there is none. */
export function cppCompiler(): string {
  const found = COMPILERS.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new HoneError("HONE_ERR_CONFIG", `there is no C++ compiler at ${COMPILERS.join(", ")}`, {
    hint: "Install one there: apt-get install g++.",
  });
}
