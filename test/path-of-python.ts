import { spawnSync } from "node:child_process";
import { dirname } from "node:path";

/**
 * The PATH on which tests find the `python3` of the PATH without a version manager between: pyenv's takes a third of
 * a second at every start to find it. Empty if there is no Python, or if nothing is between.
 */
export function pathOfPython(path = process.env["PATH"] ?? ""): { readonly PATH?: string } {
  const script = "import sys; print(sys.executable)";
  const { stdout } = spawnSync("python3", ["-c", script], {
    env: { ...process.env, PATH: path },
    encoding: "utf8",
  });
  const folder = stdout ? dirname(stdout.trim()) : "";
  return folder === "" || path.split(":").includes(folder) ? {} : { PATH: `${folder}:${path}` };
}
