import type { PushReport } from "../../inference/index.ts";
import { inUnits } from "../../plan/units.ts";
import { EXIT } from "../exit.ts";
import { withProgress } from "../progress.ts";
import { type Common, print, type Verb } from "./verb.ts";

interface Flags extends Common {
  readonly revision: string;
  readonly private?: boolean;
  readonly dryRun?: boolean;
  readonly message?: string;
}

async function push(folder: string, repo: string, flags: Flags): Promise<number> {
  const { pushFolder } = await import("../../inference/index.ts");
  const { revision, private: isPrivate = false, dryRun = false, message: title } = flags;
  const report = await withProgress(({ show, signal }) =>
    pushFolder(folder, repo, {
      revision,
      isPrivate,
      dryRun,
      signal,
      ...(title !== undefined && { title }),
      onProgress: (sent, total) => show(repo, sent, total),
    }),
  );
  print(flags, report, pushText(report));
  return EXIT.done;
}

/** Lists the files that were sent, or would be, one per line, and last the URL of the commit. */
export function pushText({ repo, revision, endpoint, isNew, files, commit }: PushReport): string {
  const sent = files.filter(({ state }) => state !== "there");
  const bytes = sent.reduce((sum, { size }) => sum + size, 0);
  const what = `${sent.length} of ${files.length} files, ${inUnits(bytes)}`;
  const verb = commit === undefined ? "would be sent" : "sent";
  const said = sent.length === 0 ? "has all of the files" : `${what} ${verb}`;
  const width = Math.max(...files.map(({ path }) => path.length));
  const lines = files.map(
    ({ path, size, state }) => `  ${state.padEnd(7)}  ${path.padEnd(width)}  ${inUnits(size)}`,
  );
  const card = files.some(({ path }) => path === "README.md") ? [] : ["no README.md: the model has no card"];
  return [
    `${repo}@${revision} at ${endpoint}${isNew ? " (new)" : ""}: ${said}`,
    ...lines,
    ...card,
    ...(commit === undefined ? [] : [commit]),
  ].join("\n");
}

export const pushVerb: Verb = (hone, ends) => {
  hone
    .command("push <folder> <name>")
    .description("send a model folder, or a folder of adapters, to a repository on the Hugging Face Hub")
    .option("--revision <word>", "branch, created if it does not exist", "main")
    .option("--private", "create a private repository if it does not exist")
    .option("--message <text>", "first line of the commit")
    .option("--dry-run", "only say what would be sent")
    .option("--json", "print JSON")
    .action(ends(push));
};
