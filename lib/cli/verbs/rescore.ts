import { HoneError } from "../../errors.ts";
import type { Rescoring } from "../../orchestration/index.ts";
import type { Verdict } from "../../records.ts";
import { columnsOf } from "../../report/terminal.ts";
import { textTable } from "../../report/text-table.ts";
import { EXIT } from "../exit.ts";
import { TRUST, type TrustFlags, trustOf } from "../folder-trust.ts";
import { loadRecipe } from "../load-recipe.ts";
import { progress } from "../progress.ts";
import { type Common, print, type Verb } from "./verb.ts";

interface Flags extends Common, TrustFlags {
  readonly domain?: string;
  readonly all?: boolean;
}

const SHOWN_CHANGES = 20;

async function rescore(dir: string, flags: Flags): Promise<number> {
  const { openVerifiers, rescoreRun } = await import("../../orchestration/index.ts");
  const { isEvaluation } = await import("../../suites/index.ts");
  if (isEvaluation(dir)) return rescoreEvaluated(dir, flags);
  const { domain, all = false, json } = flags;
  const own = flags.recipe === undefined ? undefined : openVerifiers(await loadRecipe(flags.recipe));
  const line = progress();
  const rescoring = await rescoreRun(dir, {
    ...(domain !== undefined && { domain }),
    ...(own ? { verifiers: own } : { trust: await trustOf(flags) }),
    all,
    onProgress: (judged, total) => {
      if (!json) line.show(`${judged} of ${total} judged`, judged === total);
    },
  }).finally(() => own?.close());
  line.end();
  if (domain !== undefined && rescoring.domains.length === 0)
    throw new HoneError(
      "HONE_ERR_USAGE",
      `${dir} has no completion of a domain called ${JSON.stringify(domain)}`,
    );
  print(flags, rescoring, rescoringText(rescoring));
  return EXIT.done;
}

/** Rescores the folder of an evaluation. */
async function rescoreEvaluated(dir: string, flags: Flags): Promise<number> {
  const { rescoreEvaluation } = await import("../../suites/index.ts");
  const { domain, all, json } = flags;
  const line = progress();
  const onProgress = (judged: number, total: number) => {
    if (!json) line.show(`${judged} of ${total} judged`, judged === total);
  };
  const rescored = await rescoreEvaluation(dir, {
    domain,
    all,
    onProgress,
    trust: await trustOf(flags),
  }).finally(() => line.end());
  const { completions, judged, changes } = rescored;
  const head = `${completions} completions, ${judged} judged again, ${changes.length} verdicts changed`;
  print(flags, rescored, [head, ...changesText(changes)].join("\n"));
  return EXIT.done;
}

/** Formats one row per domain, then the verdicts that changed. */
function rescoringText({ domains, changes }: Rescoring): string {
  if (domains.length === 0) return "no completions";
  const head = ["domain", "completions", "judged again", "score", "solved", "unscored", "changed"];
  const rows = domains.map((d) => [
    d.domain,
    String(d.completions),
    String(d.judged),
    `${d.scoreBefore.toFixed(3)} -> ${d.scoreAfter.toFixed(3)}`,
    `${d.solvedBefore.toFixed(3)} -> ${d.solvedAfter.toFixed(3)}`,
    `${d.unscoredBefore} -> ${d.unscoredAfter}`,
    String(d.changed),
  ]);
  const table = textTable({ head, rows }, columnsOf(process.stdout));
  return [...table, ...changesText(changes)].join("\n");
}

interface Change {
  readonly domain: string;
  readonly family: string;
  readonly problem: number;
  readonly before: Verdict | undefined;
  readonly after: Verdict | undefined;
}

/** The first changes, one per line. */
function changesText(changes: readonly Change[]): string[] {
  const told = changes
    .slice(0, SHOWN_CHANGES)
    .map(
      (c) =>
        `${c.domain} ${c.family} problem ${c.problem}: ${verdictText(c.before)} -> ${verdictText(c.after)}`,
    );
  const more = changes.length - told.length;
  return [...told, ...(more > 0 ? [`and ${more} more`] : [])];
}

function verdictText(verdict: Verdict | undefined): string {
  if (verdict === undefined) return "no verdict";
  if (verdict.status === "unscored") return `unscored (${verdict.cause})`;
  const score = verdict.score > 0 && verdict.score < 1 ? ` ${verdict.score.toFixed(3)}` : "";
  return `${verdict.status}${score} (${verdict.reason})`;
}

export const rescoreVerb: Verb = (hone, ends) => {
  hone
    .command("rescore <folder>")
    .description("judge the completions of a run or an evaluation again and show which verdicts change")
    .option("--domain <domain>", "only this domain")
    .option("--all", "also judge completions that have a verdict of the verifier's current version")
    .option("--recipe <file>", "judge as this recipe does, with its reward functions")
    .option(...TRUST)
    .option("--json", "print JSON")
    .action(ends(rescore));
};
