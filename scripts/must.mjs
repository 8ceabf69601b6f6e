// Runs a command to its end, for scripts that can continue only if it succeeds.
import { spawnSync } from "node:child_process";

/** Returns what the command printed to stdout. Throws with everything it printed if it fails. */
export function must(command, args, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", ...options });
  if (status === 0) return stdout;
  const why = error?.message ?? `status ${status}\n${stdout ?? ""}${stderr ?? ""}`;
  throw new Error(`${command} ${args.join(" ")}: ${why}`);
}
