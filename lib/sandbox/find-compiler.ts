import { existsSync } from "node:fs";
import { HoneError } from "../errors.ts";

/** Where a compiler may be: of the host's folders the sandbox shows /usr alone. */
const COMPILERS = ["g++", "clang++"].flatMap((name) => [`/usr/bin/${name}`, `/usr/local/bin/${name}`]);

/** The C++ compiler of this machine. Throws HONE_ERR_CONFIG if there is none. */
export function cppCompiler(): string {
  const found = COMPILERS.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new HoneError("HONE_ERR_CONFIG", `there is no C++ compiler at ${COMPILERS.join(", ")}`, {
    hint: "Install one there: apt-get install g++.",
  });
}
