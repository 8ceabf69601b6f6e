import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const noMpirun = spawnSync("mpirun", ["--version"]).status === 0 ? undefined : "no mpirun";

/**
 * Options of `hone launch mpirun` that make this machine several nodes, each with its own daemon. As over ssh,
 * processes on a node inherit nothing of this environment except what mpirun passes on.
 */
export function onNodes(dir: string, nodes: number): string[] {
  const [hosts, shell] = [join(dir, "hosts"), join(dir, "remote-shell.sh")];
  writeFileSync(hosts, Array.from({ length: nodes }, (_, i) => `simulated-${i} slots=1\n`).join(""));
  // mpirun calls this as: remote-shell HOST WORDS...
  writeFileSync(shell, `#!/bin/bash\nshift\nexec env -i PATH="$PATH" HOME="$HOME" bash -c "$*"\n`);
  chmodSync(shell, 0o755);
  // the daemons of one machine would all write one topology file, and one start in twenty would die of SIGSEGV
  const alone = ["--mca", "rtc_hwloc_vmhole", "none"];
  const words = ["--allow-run-as-root", "--mca", "plm_rsh_agent", shell, ...alone];
  return ["--hostfile", hosts, ...words.flatMap((word) => ["--mpirun", word])];
}
