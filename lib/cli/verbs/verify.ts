import { once } from "node:events";
import { Option } from "commander";
import type { Compat } from "../../domains/index.ts";
import { HoneError } from "../../errors.ts";
import type { Verdict } from "../../records.ts";
import { EXIT, explain } from "../exit.ts";
import { loadRecipe } from "../load-recipe.ts";
import { progress } from "../progress.ts";
import type { Common, Verb } from "./verb.ts";

interface Flags extends Common {
  readonly domain: string;
  readonly file: string;
  readonly recipe?: string;
  readonly compat: Compat;
}

const SHOWN_FAULTS = 5;

/** Counts rows by status, and unscored rows by cause. */
class Count {
  readonly byStatus = new Map<string, number>();
  readonly causes = new Map<string, number>();
  rows = 0;

  add(verdict: Verdict): void {
    this.rows += 1;
    const more = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);
    more(this.byStatus, verdict.status);
    if (verdict.status === "unscored") more(this.causes, verdict.cause);
  }

  get unscored(): number {
    return this.byStatus.get("unscored") ?? 0;
  }

  /** "3 correct, 1 wrong" */
  toString(): string {
    return [...this.byStatus].map(([status, rows]) => `${rows} ${status}`).join(", ") || "nothing";
  }
}

/** Verdicts go to stdout, one per line; messages go to stderr. */
async function verify({ domain, file, compat, json, ...flags }: Flags): Promise<number> {
  const { verifyFile } = await import("../verify-file.ts");
  const recipe = flags.recipe === undefined ? undefined : await loadRecipe(flags.recipe);
  const started = performance.now();
  const faults: HoneError[] = [];
  const count = new Count();
  const line = progress();
  for await (const verdict of verifyFile({ domain, file, compat, recipe }, (fault) => faults.push(fault))) {
    if (!process.stdout.write(`${JSON.stringify(verdict)}\n`)) await once(process.stdout, "drain");
    count.add(verdict);
    if (!json) line.show(`${count.rows} judged`);
  }
  const seconds = (performance.now() - started) / 1000;
  line.end();
  if (!json) process.stderr.write(`${count.rows} judged in ${seconds.toFixed(1)} s: ${count}\n`);
  complain(count, faults);
  return count.unscored > 0 ? EXIT.data : EXIT.done;
}

/** Prints why rows have no score, also with --json. */
function complain(count: Count, faults: readonly HoneError[]): void {
  if (count.unscored === 0) return;
  for (const fault of faults.slice(0, SHOWN_FAULTS)) process.stderr.write(`${explain(fault)}\n`);
  if (faults.length > SHOWN_FAULTS)
    process.stderr.write(`and ${faults.length - SHOWN_FAULTS} more lines that are not valid cases\n`);
  const told = new Set(faults.map(({ message }) => message));
  const causes = [...count.causes].filter(([cause]) => !told.has(cause)).sort(([, a], [, b]) => b - a);
  const lines = causes.slice(0, SHOWN_FAULTS).map(([cause, rows]) => `\n  ${rows} × ${cause}`);
  const message = `${count.unscored} of ${count.rows} rows unscored${lines.join("")}`;
  process.stderr.write(`${explain(new HoneError("HONE_ERR_VERIFIER", message))}\n`);
}

export const verifyVerb: Verb = (hone, ends) => {
  hone
    .command("verify")
    .description(
      "judge a file of cases, one JSON object a line, and print one verdict a line (docs/reference/verify.md)",
    )
    .requiredOption("--domain <domain>", "domain of the cases: math, logic, ...")
    .requiredOption("--file <cases.jsonl>", "the cases")
    .option("--recipe <file>", "judge by this recipe's reward for the domain (docs/how-to/rewards.md)")
    .addOption(
      new Option("--compat <mode>", "strict, or reference to reproduce the reference's bugs too")
        .choices(["strict", "reference"])
        .default("strict"),
    )
    .option("--json", "print only errors, on stderr")
    .action(ends(verify));
};
