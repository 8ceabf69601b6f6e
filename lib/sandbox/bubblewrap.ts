import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { launchJob, type NativeProgram, type NativeRun } from "./native-program.ts";
import { textOf, unusable } from "./process-sandbox.ts";
import type { PythonLimits, Readiness } from "./python-sandbox.ts";
import { seccompFilter } from "./seccomp.ts";
import { NOTHING_FD, Zygote } from "./zygote.ts";
import { ZygoteSandbox } from "./zygote-sandbox.ts";
import { zygoteScript } from "./zygote-script.ts";

/** The only host folder visible to a program, read-only; Python must be in it. */
const SYSTEM = "/usr";
const PYTHONS = [`${SYSTEM}/bin/python3`, `${SYSTEM}/local/bin/python3`];
/** The user "nobody": the program's user inside, and also outside if we run as root, so that per-user limits apply. */
const NOBODY = 65534;

const TMP_BYTES = 64 << 20;

/**
 * Linux namespaces by bubblewrap, a seccomp filter and resource limits around the system's own Python. The program is
 * isolated: no network, no host files except a read-only /usr, no /etc, /proc or home, no other processes, and only
 * 64 MiB of /tmp to write to. When it or this process ends, the kernel kills all that remains.
 */
export class BubblewrapSandbox extends ZygoteSandbox {
  readonly name = "bubblewrap";
  /** The bwrap program. */
  readonly command: string;

  /** @param command the bwrap program, by path or by name on PATH. */
  constructor(command = "bwrap") {
    super();
    this.command = command;
  }

  protected open(): Zygote {
    const python = [python3()!, "-s", "-S", "-B", "-X", "utf8", "-c", zygoteScript(seccompFilter()!)];
    const user = outsideUser();
    return new Zygote({
      command: this.command,
      args: [...CONTAINMENT, ...python],
      ...(user !== undefined && { user }),
    });
  }

  /** Runs a compiled program as a Python program is run. Rejects as `run` does. */
  async runNative(program: NativeProgram, limits: PythonLimits, signal?: AbortSignal): Promise<NativeRun> {
    const end = await this.runJob(launchJob(program), limits, signal);
    return { end: end.end, status: end.status, stderr: textOf(end, 2), spentMs: end.spentMs };
  }

  protected async prepare(): Promise<Readiness> {
    if (process.platform !== "linux") return unusable(`needs Linux, this is ${process.platform}`);
    if (seccompFilter() === undefined) return unusable(`no system call filter for ${process.arch}`);
    if (python3() === undefined) return unusable(`no python3 at ${PYTHONS.join(" or ")}`);
    const what = await versionOf(this.command);
    return what === undefined
      ? unusable(`${this.command} is not installed (apt-get install bubblewrap)`)
      : { usable: true, what };
  }
}

/**
 * bubblewrap's options for every confined process: namespaces of its own, no environment variables, and /usr as the
 * only files of the host.
 */
export const CONFINED: readonly string[] = [
  ["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"],
  ["--uid", String(NOBODY), "--gid", String(NOBODY), "--hostname", "sandbox"],
  ["--clearenv", "--setenv", "HOME", "/tmp", "--ro-bind", SYSTEM, SYSTEM],
  ...["lib", "lib64", "bin"].map((name) => ["--symlink", `usr/${name}`, `/${name}`]),
  ["--dev-bind", "/dev/null", "/dev/null", "--dev-bind", "/dev/urandom", "/dev/urandom"],
  ["--size", String(TMP_BYTES), "--tmpfs", "/tmp", "--chdir", "/tmp"],
].flat();

/** If root starts Hone, programs run as this user outside the sandbox too. */
export const outsideUser = (): number | undefined => (process.getuid?.() === 0 ? NOBODY : undefined);

/** The containment of the pump and the zygote; a program's process confines itself further (zygote-script.ts). */
const CONTAINMENT: readonly string[] = [
  CONFINED,
  ["--as-pid-1", "--cap-add", "CAP_SYS_ADMIN", "--setenv", "PYTHONHASHSEED", "0"],
  // One malloc arena per thread would use up a program's address space.
  ["--setenv", "MALLOC_ARENA_MAX", "1"],
  ["--perms", "0444", "--file", String(NOTHING_FD), "/dev/stdin", "--remount-ro", "/", "--"],
].flat();

const python3 = (): string | undefined => PYTHONS.find((path) => existsSync(path));

function versionOf(command: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(command, ["--version"], { timeout: 5000 }, (error, stdout) =>
      resolve(error ? undefined : stdout.trim()),
    );
  });
}
