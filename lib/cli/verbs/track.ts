import { HoneError } from "../../errors.ts";
import { columnsOf } from "../../report/terminal.ts";
import { textTable } from "../../report/text-table.ts";
import { within } from "../../shared/async/deadline.ts";
import { EXIT, interruptSignal } from "../exit.ts";
import { TRUST, type TrustFlags, trustOf } from "../folder-trust.ts";
import { loadRecipe } from "../load-recipe.ts";
import type { TrackerRow } from "../track.ts";
import { type Common, print, type Verb } from "./verb.ts";

interface Flags extends Common, TrustFlags {
  readonly timeout: string;
}

function show(flags: Common, rows: readonly TrackerRow[]): void {
  const head = ["tracker", "sent", "waiting", "refused", "failures"];
  const cells = rows.map(({ tracker, ...row }) => [
    tracker,
    ...[row.sent, row.waiting, row.refused, row.failures].map(String),
  ]);
  const notes = rows.flatMap(({ tracker, note }) => (note === undefined ? [] : [`${tracker}: ${note}`]));
  const table = textTable({ head, rows: cells }, columnsOf(process.stdout));
  print(
    flags,
    rows,
    rows.length === 0 ? "this run has sent nothing to a tracker" : [...table, ...notes].join("\n"),
  );
}

async function list(dir: string, flags: Common): Promise<number> {
  const { trackerRows } = await import("../track.ts");
  const { readRunManifest } = await import("../../metrics/index.ts");
  readRunManifest(dir);
  show(flags, trackerRows(dir));
  return EXIT.done;
}

async function send(dir: string, flags: Flags): Promise<number> {
  const { sendWaiting, trackerDemands } = await import("../track.ts");
  const seconds = Number(flags.timeout);
  if (!(seconds > 0 && seconds <= 86_400))
    throw new HoneError(
      "HONE_ERR_USAGE",
      `--timeout is ${flags.timeout}; it must be a number of seconds above 0 and at most 86400 (a day)`,
    );
  const recipe = flags.recipe === undefined ? undefined : await loadRecipe(flags.recipe);
  const trust = await trustOf(flags, recipe, ({ trackers }) => trackerDemands(trackers));
  const interrupted = interruptSignal((line) => process.stderr.write(`${line}\n`));
  const rows = await within(1000 * seconds, interrupted, (signal) => sendWaiting(dir, { signal, trust }));
  show(flags, rows);
  return rows.some(({ waiting }) => waiting > 0) ? EXIT.environment : EXIT.done;
}

export const trackVerb: Verb = (hone, ends) => {
  const track = hone.command("track").description("entries that wait for the trackers of a run");
  track
    .command("send <run>")
    .description("send the entries that wait in a run folder; exits with 3 if some are left")
    .option("--recipe <file>", "your own recipe: send also to trackers that it names")
    .option(...TRUST)
    .option("--timeout <s>", "seconds after which to give up", "600")
    .option("--json", "print JSON")
    .action(ends(send));
  track
    .command("list <run>")
    .description("show how many entries each tracker has accepted, and how many wait for it")
    .option("--json", "print JSON")
    .action(ends(list));
};
