import type { PythonValue } from "../python/value.ts";
import { list, str } from "../python/value.ts";
import { jobBytes } from "./harness.ts";
import type { ProcessEnd } from "./process-end.ts";

/** A compiled program and the files that it finds in its working folder; their names are its arguments, in order. */
export interface NativeProgram {
  readonly binary: Buffer;
  readonly files: readonly (readonly [name: string, content: string])[];
}

export interface NativeRun {
  readonly end: ProcessEnd["end"];
  /** Exit status; 128 plus its number for a signal. */
  readonly status: number;
  readonly stderr: string;
  readonly spentMs: number;
}

/** Exit status of a program that could not be started, or whose files are too large to be written. */
export const NOT_STARTED = 125;

/**
 * Writes the files and becomes the program: the process is confined before it runs this, and stays so. Of the
 * descriptors only input, output and errors outlive the change.
 */
const LAUNCHER = `
import os
def hone_launch(binary, files):
    try:
        for name, content in [("program", binary)] + files:
            with open(name, "wb") as file:
                file.write(content if name == "program" else content.encode("utf-8", "surrogatepass"))
        os.chmod("program", 0o500)
        os.set_inheritable(3, False)
        os.execv("program", ["program"] + [name for name, _ in files])
    except BaseException as problem:
        os.write(2, ascii(problem).encode())
        os._exit(${NOT_STARTED})
`;

/** The job that runs a compiled program in a process made for Python. */
export function launchJob({ binary, files }: NativeProgram): Buffer {
  const bytes: PythonValue = { type: "bytes", value: binary.toString("latin1") };
  const pairs = files.map(
    ([name, content]): PythonValue => ({ type: "tuple", items: [str(name), str(content)] }),
  );
  const call = { name: "hone_launch", args: [bytes, list(pairs)] };
  return jobBytes({ source: LAUNCHER, stdin: "", dialect: "script", call }, []);
}
