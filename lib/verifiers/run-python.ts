import { pythonSandbox } from "../sandbox/choose.ts";
import type { PythonRun } from "../sandbox/python-sandbox.ts";

export type { PythonEnd, PythonRun } from "../sandbox/python-sandbox.ts";

/** Input and limits of an untrusted Python program. */
export interface RunPythonOptions {
  /** Standard input of the program. Default: empty. */
  readonly stdin?: string;
  /** Milliseconds; time in which no processor was free for it does not count. Default 5,000. */
  readonly wallMs?: number;
  /** Default: 512 MiB. */
  readonly memoryBytes?: number;
  /** Limit of standard output; beyond it the program is killed. Default: 1 MiB. */
  readonly outputBytes?: number;
  /** Ends the run with HONE_ERR_ABORTED. */
  readonly signal?: AbortSignal;
}

/**
 * Runs an untrusted Python program as `python3 program.py` would, without network and without the host's files. Whatever
 * the program does is in the result. Throws HONE_ERR_VERIFIER if no sandbox works on this machine, saying why.
 */
export async function runPython(source: string, options: RunPythonOptions = {}): Promise<PythonRun> {
  const { stdin = "", wallMs = 5000, memoryBytes = 2 ** 29, outputBytes = 2 ** 20, signal } = options;
  const sandbox = await pythonSandbox();
  return sandbox.run({ source, stdin, dialect: "script" }, { wallMs, memoryBytes, outputBytes }, signal);
}
