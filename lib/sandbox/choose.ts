import { HoneError } from "../errors.ts";
import { BubblewrapSandbox } from "./bubblewrap.ts";
import { PyodideSandbox } from "./pyodide.ts";
import type { PythonSandbox, Readiness } from "./python-sandbox.ts";
import { SandboxFusion } from "./sandboxfusion.ts";

/** The driver that runs Python programs here, and why earlier candidates do not work. */
export interface SandboxChoice {
  readonly sandbox: PythonSandbox | undefined;
  /** Candidates in order of trial; the last one is `sandbox`, if any works. */
  readonly tried: readonly { readonly name: string; readonly readiness: Readiness }[];
}

/** All drivers, the best first: `auto` takes the first that works. */
const DRIVERS: readonly PythonSandbox[] = [
  new BubblewrapSandbox(),
  new SandboxFusion(process.env["HONE_SANDBOX_URL"]),
  new PyodideSandbox(),
];

let choosing: Promise<SandboxChoice> | undefined;

/**
 * The choice for this thread, made once a driver works: HONE_SANDBOX names a driver, or is `auto`, which is the default.
 * Rejects with HONE_ERR_CONFIG when it names none.
 */
export async function sandboxChoice(): Promise<SandboxChoice> {
  choosing ??= chooseAmong(DRIVERS, process.env["HONE_SANDBOX"] || "auto");
  const choice = await choosing;
  if (!choice.sandbox) choosing = undefined;
  return choice;
}

/** Tries the drivers that `wanted` names until one works. Rejects with HONE_ERR_CONFIG if it names none. */
export async function chooseAmong(drivers: readonly PythonSandbox[], wanted: string): Promise<SandboxChoice> {
  const candidates = drivers.filter(({ name }) => wanted === "auto" || wanted === name);
  if (candidates.length === 0) {
    const known = ["auto", ...drivers.map(({ name }) => name)].join(", ");
    throw new HoneError("HONE_ERR_CONFIG", `HONE_SANDBOX is ${JSON.stringify(wanted)}; known: ${known}`);
  }
  const tried: { name: string; readiness: Readiness }[] = [];
  for (const sandbox of candidates) {
    const readiness = await sandbox.probe();
    tried.push({ name: sandbox.name, readiness });
    if (readiness.usable) return { sandbox, tried };
  }
  return { sandbox: undefined, tried };
}

/** The sandbox for Python programs. Rejects with HONE_ERR_VERIFIER, saying why each driver does not work. */
export async function pythonSandbox(): Promise<PythonSandbox> {
  const choice = await sandboxChoice();
  if (choice.sandbox) return choice.sandbox;
  throw new HoneError("HONE_ERR_VERIFIER", `no sandbox for Python programs: ${choiceText(choice)}`, {
    hint: "docs/explanation/sandbox.md says what each driver needs",
  });
}

/**
 * The sandbox for compiled programs. Rejects with HONE_ERR_VERIFIER where the one for Python programs is another
 * driver: those run Python alone.
 */
export async function nativeSandbox(): Promise<BubblewrapSandbox> {
  const sandbox = await pythonSandbox();
  if (sandbox instanceof BubblewrapSandbox) return sandbox;
  throw new HoneError(
    "HONE_ERR_VERIFIER",
    `compiled programs run in the sandbox bubblewrap alone; here programs run in ${choiceText(await sandboxChoice())}`,
    { hint: "Install bubblewrap (docs/explanation/sandbox.md), and leave HONE_SANDBOX unset." },
  );
}

/** One line: the chosen driver with its versions, and why earlier candidates do not work. */
export function choiceText({ sandbox, tried }: SandboxChoice): string {
  const lines = tried.map(({ name, readiness }) =>
    readiness.usable ? `${name} (${readiness.what})` : `${name} is not usable: ${readiness.why}`,
  );
  const used = sandbox ? [lines.at(-1)!] : [];
  const others = sandbox ? lines.slice(0, -1) : lines;
  return [...used, ...others].join("; ");
}
