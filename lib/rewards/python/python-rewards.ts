import type { Verdict } from "../../records.ts";
import { faultOf } from "../pool/verifier-fault.ts";
import type { PythonCall } from "./python-call.ts";
import { PythonProcess, type Reply } from "./python-process.ts";
import { pythonMember, type RatedMember } from "./reward-columns.ts";

/** A completion's number, or why it has none. */
export type Rated = number | Extract<Verdict, { status: "unscored" }>;

/** Outcome of a call; `isLost`: the Python process exited. */
export interface Rating {
  readonly rated: readonly Rated[];
  readonly isLost?: true;
}

/** Processes by command and file: functions of one file share a process. */
const processes = new Map<string, PythonProcess>();

/**
 * Imports the file in a Python process, starting one if needed, and finds the function. Returns a line about both:
 * signature, calling convention, Python version. Throws an error with the cause, for the user.
 */
export async function loadPython(call: PythonCall): Promise<string> {
  const { about, error } = await ask(call, { op: "load" });
  if (about === undefined) throw new Error(error ?? "Python gave no answer");
  return about;
}

/** Rates completions by one call of the function. Never rejects. The caller must enforce a time limit. */
export async function rateInPython(call: PythonCall, members: readonly RatedMember[]): Promise<Rating> {
  const sameFor = (cause: string): Rated[] => members.map(() => ({ status: "unscored", cause }));
  let reply: Reply;
  try {
    const rows = members.map((member) => pythonMember(member, call));
    reply = await ask(call, { op: "rate", members: rows, maxSteps: call.maxSteps });
  } catch (error) {
    return { rated: sameFor(faultOf(error)), isLost: true };
  }
  const { values, error = "Python gave no values" } = reply;
  if (values?.length !== members.length) return { rated: sameFor(`the reward failed: ${error}`) };
  return { rated: values.map(ratedOf) };
}

function ratedOf(value: number | null | { readonly fault: string }): Rated {
  if (value === null) return NOT_APPLICABLE;
  return typeof value === "number" ? value : { status: "unscored", cause: value.fault };
}

const NOT_APPLICABLE: Rated = {
  status: "unscored",
  cause: "the reward does not apply: the function returned None for this completion",
  notApplicable: true,
};

function ask(call: PythonCall, request: object): Promise<Reply> {
  const { command, file, function: name } = call;
  const key = JSON.stringify([command, file]);
  const known = processes.get(key);
  const running =
    known?.isAlive === true
      ? known
      : new PythonProcess(command, file, (text) => void process.stderr.write(text));
  processes.set(key, running);
  return running.ask({ ...request, file, function: name });
}
