import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { buffer, text } from "node:stream/consumers";
import { HoneError } from "../errors.ts";
import { CONFINED, outsideUser } from "./bubblewrap.ts";
import { cppCompiler } from "./find-compiler.ts";
import { printable } from "./harness.ts";
import { seccompFilter } from "./seccomp.ts";

/** Fast to compile: the header of checkers takes twice as long with -O2. */
export const CPP_FLAGS = ["-std=gnu++17", "-O1", "-w", "-s"] as const;

const CPU_SECONDS = 60;
const MEMORY_KIB = 4 << 20;
const MAX_BINARY_BYTES = 16 << 20;
/**
 * Wall-clock limit for a compiler that hangs; a compiler that computes too long is ended by its limit of processor
 * time.
 */
const WALL_MS = 30 * CPU_SECONDS * 1000;

/** Number of the first file descriptor after standard input, output and error. */
const FILTER_FD = 3;

export interface CppProgram {
  readonly source: string;
  /** Headers that it may include, by name. */
  readonly headers: ReadonlyMap<string, Buffer>;
}

/**
 * Compiles a program in a sandbox: no network, no files but /usr and the headers, 64 MiB to write, limits on time and
 * memory. Returns the binary. Rejects with HONE_ERR_DATA and the compiler's first error for a program that does not
 * compile, with HONE_ERR_VERIFIER if the compiler cannot run.
 * @param bwrap the bubblewrap program
 */
export async function compileCpp(
  { source, headers }: CppProgram,
  bwrap: string,
  compiler = cppCompiler(),
): Promise<Buffer> {
  const inside = [
    ["--setenv", "PATH", "/usr/bin:/usr/local/bin", "--seccomp", String(FILTER_FD)],
    ["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"],
    ...[...headers.keys()].map((name, i) => ["--ro-bind-data", String(FILTER_FD + 1 + i), `/tmp/${name}`]),
    ["--remount-ro", "/", "--", "/bin/sh", "-c", '"$@" && exec cat program', "sh"],
    [compiler, "-x", "c++", ...CPP_FLAGS, "-I/tmp", "-o", "program", "-"],
  ].flat();
  const limited = `ulimit -t ${CPU_SECONDS}; ulimit -v ${MEMORY_KIB}; exec "$0" "$@"`;
  const given = [Buffer.from(source), seccompFilter(process.arch, true)!, ...headers.values()];
  const { status, stdout, stderr } = await ended(
    "/bin/sh",
    ["-c", limited, bwrap, ...CONFINED, ...inside],
    given,
  );
  if (status === 0 && stdout.length > 0 && stdout.length <= MAX_BINARY_BYTES) return stdout;
  const error = /^(?:<stdin>|[^\s:]+):\d+:.*error: .*$/m.exec(stderr)?.[0];
  if (error !== undefined) throw new HoneError("HONE_ERR_DATA", `does not compile: ${printable(error, 300)}`);
  throw new HoneError(
    "HONE_ERR_VERIFIER",
    `${compiler} ended with status ${status} in the sandbox: ${printable(stderr, 300) || `${stdout.length} bytes of program`}`,
    { hint: "npx hone doctor says whether bubblewrap works here." },
  );
}

/** Runs a command with its input, and what it reads at descriptors 3, 4, ... */
async function ended(
  command: string,
  args: readonly string[],
  given: readonly Buffer[],
): Promise<{ readonly status: number; readonly stdout: Buffer; readonly stderr: string }> {
  const user = outsideUser();
  const child = spawn(command, args, {
    env: { PATH: process.env["PATH"] ?? "" },
    stdio: given.map(() => "pipe" as const).toSpliced(1, 0, "pipe", "pipe"),
    timeout: WALL_MS,
    killSignal: "SIGKILL",
    ...(user !== undefined && { uid: user, gid: user }),
  });
  const [input, stdout, stderr, ...rest] = child.stdio as unknown as Socket[];
  for (const [i, pipe] of [input!, ...rest].entries()) {
    pipe.on("error", () => {}); // a compiler that ends early does not read to the end
    pipe.end(given[i]!);
  }
  const [[code], out, complaints] = await Promise.all([
    once(child, "close") as Promise<[number | null]>,
    buffer(stdout!),
    text(stderr!),
  ]);
  return { status: code ?? -1, stdout: out, stderr: complaints };
}
