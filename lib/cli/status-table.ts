import type { PipelineStatus, ProcessStatus, VerifierStatus } from "../metrics/index.ts";
import { clip, flow, processTable } from "../report/index.ts";
import type { RunStatus } from "../runs/index.ts";
import { visibleText } from "../shared/text/visible-text.ts";

/** Formats a run's current status, in lines of at most `columns`. @param nowMs milliseconds since 1970 */
export function statusText(status: RunStatus, columns: number, nowMs: number): string {
  const { dir, name, state, steps, ofSteps, asOfMs, line, processes } = status;
  const of = ofSteps === undefined ? `${steps} steps` : `step ${steps} of ${ofSteps}`;
  const age = asOfMs === undefined ? undefined : (nowMs - asOfMs) / 1000;
  const seen = age === undefined ? "it left no line.json" : `seen ${age < 3 ? "now" : `${seconds(age)} ago`}`;
  const text = [
    ...flow([`${name}: ${state}`, of, seen, dir], columns),
    ...(line === undefined ? [] : [wrapped(line.waits.sentence, columns)]),
    "",
    ...processTable(processes, columns),
    ...ends(processes, columns, nowMs),
    ...processes.flatMap(({ name, state, metrics }) =>
      metrics && state !== "gone" ? [clip(`${name} metrics ${metrics}`, columns)] : [],
    ),
    ...(line === undefined ? [] : ["", ...stageLines(status, columns)]),
  ];
  return visibleText(text.join("\n"));
}

function ends(processes: readonly ProcessStatus[], columns: number, nowMs: number): string[] {
  const told = processes.flatMap(({ name, ended }) => {
    if (ended === undefined) return [];
    const words = ended.words.split("\n").filter((line) => line.trim() !== "");
    const head = `${name} ended ${ended.how}, ${seconds((nowMs - ended.atMs) / 1000)} ago`;
    return [head, ...words.map((line) => clip(`  ${visibleText(line)}`, columns))];
  });
  return told.length === 0 ? [] : ["", ...told];
}

function stageLines({ line }: RunStatus, columns: number): string[] {
  const { stages, credits, verifiers, verifierWorkers, store, engine, weights } = line!;
  const holds = stages.map(({ name, holds: n, of }) => `${name} ${of === undefined ? n : `${n}/${of}`}`);
  const out = `${credits.total - credits.free} of ${credits.total} credits out`;
  return [
    ...flow([...holds, out], columns),
    ...resumedLines(engine.takenUp, columns),
    ...verifiers
      .filter(({ out, timeouts, crashes }) => out + timeouts + crashes > 0)
      .map((verifier) => clip(verifierLine(verifier, verifierWorkers), columns)),
    ...(store === undefined ? [] : flow([`store ${store.address}`, `run ${store.run}`], columns)),
    ...(weights === undefined ? [] : [wrapped(weights, columns)]),
  ];
}

function resumedLines(takenUp: PipelineStatus["engine"]["takenUp"], columns: number): string[] {
  if (takenUp === undefined || takenUp.rollouts + takenUp.lostTokens === 0) return [];
  const { rollouts, tokens, lostTokens } = takenUp;
  return flow([`${rollouts} rollouts taken up`, `${tokens} tokens kept`, `${lostTokens} lost`], columns);
}

function verifierLine({ name, out, oldestMs, timeouts, crashes }: VerifierStatus, workers: number): string {
  const waits = out === 0 ? "" : `, the oldest for ${seconds(oldestMs / 1000)}`;
  return `verifier ${name}, pool of ${workers}: ${out} out${waits}; ${timeouts} timed out, ${crashes} crashed`;
}

const seconds = (s: number): string =>
  s < 120 ? `${Math.max(0, Math.round(s))} s` : `${Math.round(s / 60)} min`;

/** Wraps at words, never within one. */
function wrapped(text: string, columns: number): string {
  return flow(text.split(" "), columns, " ").join("\n");
}
