import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const noMpirun = spawnSync("mpirun", ["--version"]).status === 0 ? undefined : "no mpirun";

/**
 * Options of `hone launch mpirun` by which this machine is so many nodes to mpirun, each with a daemon of its own. What
 * mpirun starts on a node has nothing of this process's environment, as over ssh, but what it carries there.
 */
export function onNodes(dir: string, nodes: number): string[] {
  const [hosts, shell] = [join(dir, "hosts"), join(dir, "remote-shell.sh")];
  writeFileSync(hosts, Array.from({ length: nodes }, (_, i) => `simulated-${i} slots=1\n`).join(""));
  // mpirun calls this as: remote-shell HOST WORDS...
  writeFileSync(shell, `#!/bin/bash\nshift\nexec env -i PATH="$PATH" HOME="$HOME" bash -c "$*"\n`);
  chmodSync(shell, 0o755);
  // the daemons of one machine all write one file of its topology, and one start in twenty dies of SIGSEGV while they
  // do
  const alone = ["--mca", "rtc_hwloc_vmhole", "none"];
  const words = ["--allow-run-as-root", "--mca", "plm_rsh_agent", shell, ...alone];
  return ["--hostfile", hosts, ...words.flatMap((word) => ["--mpirun", word])];
}
