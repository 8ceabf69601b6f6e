import { once } from "node:events";
import { Option } from "commander";
import type { HoneError } from "../../errors.ts";
import type { Compat } from "../../rewards/index.ts";
import { EXIT, explain } from "../exit.ts";
import { progress } from "../progress.ts";
import type { Common, Verb } from "./verb.ts";

interface Flags extends Common {
  readonly domain: string;
  readonly file: string;
  readonly compat: Compat;
}

const SHOWN_FAULTS = 5;

/** Verdicts go to stdout, one a line; what people read goes to stderr. */
async function verify({ domain, file, compat, json }: Flags): Promise<number> {
  const { verifyFile } = await import("../verify-file.ts");
  const started = performance.now();
  const faults: HoneError[] = [];
  const counts = new Map<string, number>();
  const line = progress();
  let judged = 0;
  for await (const verdict of verifyFile({ domain, file, compat }, (fault) => faults.push(fault))) {
    if (!process.stdout.write(`${JSON.stringify(verdict)}\n`)) await once(process.stdout, "drain");
    counts.set(verdict.status, (counts.get(verdict.status) ?? 0) + 1);
    judged += 1;
    if (!json) line.show(`${judged} judged`);
  }
  const seconds = (performance.now() - started) / 1000;
  const shares = [...counts].map(([status, count]) => `${count} ${status}`).join(", ");
  line.end();
  if (!json) process.stderr.write(`${judged} judged in ${seconds.toFixed(1)} s: ${shares || "nothing"}\n`);
  for (const fault of faults.slice(0, SHOWN_FAULTS)) process.stderr.write(`${explain(fault)}\n`);
  if (faults.length > SHOWN_FAULTS)
    process.stderr.write(`and ${faults.length - SHOWN_FAULTS} more lines that are no cases\n`);
  return faults.length > 0 ? EXIT.data : EXIT.done;
}

export const verifyVerb: Verb = (hone, ends) => {
  hone
    .command("verify")
    .description(
      "judge a file of cases, one JSON object a line, and print one verdict a line (docs/verify.md)",
    )
    .requiredOption("--domain <domain>", "what the cases are of: math, logic, ...")
    .requiredOption("--file <cases.jsonl>", "the cases")
    .addOption(
      new Option("--compat <mode>", "strict, or reference to reproduce the reference's bugs too")
        .choices(["strict", "reference"])
        .default("strict"),
    )
    .option("--json", "nothing but errors on stderr")
    .action(ends(verify));
};
