// Runs a command to its end, for scripts that go on only where it succeeds.
import { spawnSync } from "node:child_process";

/** What the command printed to stdout. Throws with all that it printed where it fails. */
export function must(command, args, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", ...options });
  if (status === 0) return stdout;
  const why = error?.message ?? `status ${status}\n${stdout ?? ""}${stderr ?? ""}`;
  throw new Error(`${command} ${args.join(" ")}: ${why}`);
}
