import { join } from "node:path";
import { HoneError } from "../errors.ts";
import { RUN_FILES, readRunManifest, STEP_STAGES, writeWhole } from "../metrics/index.ts";
import { Trust } from "../trust.ts";
import { ANSWERS } from "./answers.ts";
import { bundle } from "./bundle.ts";
import { DigestedLog } from "./digested-log.ts";
import { pageFile } from "./page-files.ts";
import { Watch } from "./watch.ts";
import type { StaticReport } from "./wire.ts";

/** Limit for all answers: a page's 2 MB, less its fixed parts. */
const MOST_ANSWER_CHARS = 400_000;

/** Requests whose answers a static report contains, as the page sends them. A panel that needs another request adds it here. */
const QUESTIONS: readonly string[] = [
  ...["all", "gained", "lost", "wrong"].map(
    (kind) => `before-after?run=0&kind=${kind}&domain=&at=&offset=0&limit=5&chars=1500`,
  ),
  "guide",
  "summary?run=0",
  "recipe?run=0",
  "verifiers?run=0",
  "hints?run=0",
  "problems?run=0&kind=all&order=hardest&domain=&offset=0&limit=50",
];

/**
 * Writes `report.html` into a run folder, finished or not, and returns its path: the page as it would show
 * the run now, in one file that needs neither network nor server. Throws HONE_ERR_IO or HONE_ERR_FORMAT
 * naming the file at fault.
 */
export async function writeReport(runDir: string): Promise<string> {
  const { name } = readRunManifest(runDir);
  const path = join(runDir, RUN_FILES.report);
  writeWhole(path, reportPage(name, await reportData(runDir)));
  return path;
}

/**
 * Everything that the page of a run asks for. Leaves out an answer that is too long for a file, or that
 * cannot be read from a damaged journal; the page then says so.
 */
export async function reportData(runDir: string): Promise<StaticReport> {
  const { reportSamples } = await import("./report-samples.ts");
  const log = new DigestedLog(runDir);
  const watch = new Watch([runDir], Trust.none(), () => log);
  try {
    const answers: Record<string, unknown> = {};
    for (const question of QUESTIONS) {
      const answer = await answerTo(question, watch);
      if (answer !== undefined && JSON.stringify(answer).length <= MOST_ANSWER_CHARS)
        answers[question] = answer;
    }
    const [info] = watch.runs.map((run) => run.info());
    const { series } = log;
    const rows = series.steps.at(-1) ?? 0;
    const samples = await reportSamples(watch);
    return {
      overview: { runs: [{ ...info!, rows }], stages: STEP_STAGES, cursor: "" },
      series,
      answers,
      ...(samples && { samples }),
    };
  } finally {
    watch.close();
  }
}

async function answerTo(question: string, watch: Watch): Promise<unknown> {
  const [name, query] = question.split("?");
  try {
    return await ANSWERS[name!]!({ query: new URLSearchParams(query), watch });
  } catch (error) {
    if (HoneError.is(error)) return undefined;
    throw error;
  }
}

/** The page's own files and its answers in one document. */
export function reportPage(title: string, frozen: StaticReport): string {
  const text = (name: string) => pageFile(name)!.text;
  // A "<" in a string of the answers, or of a script, could end the element that holds it.
  const data = JSON.stringify(frozen).replaceAll("<", "\\u003c");
  const script = (code: string) => code.replaceAll("</script", "<\\/script");
  const policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="icon" href="data:,">
<title>${escaped(title)}</title>
<style>${text("uplot.css")}${text("page.css")}</style></head>
<body><div id="page"></div>
<script type="application/json" id="frozen">${data}</script>
<script>${script(text("uplot.js"))}</script>
<script type="module">${script(bundle("main.js"))}</script>
</body></html>
`;
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
