import {
  decodeIds,
  decodeLogprobs,
  noRecordOf,
  type RecordedGroup,
  type RecordedRollout,
  type RecordedStep,
  readRolloutRecord,
  recordedSteps,
} from "../orchestration/index.ts";

/**
 * Report of `hone rollouts`: one row per recorded step, or with `step` one row per rollout of that step; with
 * `json` the steps, or the step and its groups, as JSON lines with arrays in place of base64. Throws what the
 * record's readers throw; HONE_ERR_USAGE for a step without a record.
 */
export async function* rolloutLines(
  dir: string,
  { step, json = false }: { readonly step?: string | undefined; readonly json?: boolean | undefined },
): AsyncGenerator<string, void, undefined> {
  const steps = recordedSteps(dir);
  if (step === undefined) yield* stepRows(dir, steps, json);
  else if (steps.includes(Number(step))) yield* rolloutRows(dir, Number(step), json);
  else throw noRecordOf(dir, Number(step), steps, `--step ${step}`);
}

async function* stepRows(dir: string, steps: readonly number[], json: boolean): AsyncGenerator<string> {
  if (!json) yield row(["step", "version", "groups", "kept", "sequences", "tokens", "loss", "gradient"]);
  for (const step of steps) {
    for await (const line of readRolloutRecord(dir, step)) {
      yield json ? JSON.stringify(line) : stepRow(line as RecordedStep);
      break; // the first line is the record of the step itself
    }
  }
}

function stepRow({ step, versionBefore, groups, trained }: RecordedStep): string {
  const { groups: kept, sequences, tokens, loss, gradNorm } = trained ?? {};
  const counts = [step, versionBefore, groups, kept, sequences, tokens].map((n) => String(n ?? "-"));
  return row([...counts, loss?.toPrecision(4) ?? "-", gradNorm?.toPrecision(4) ?? "-"]);
}

async function* rolloutRows(dir: string, step: number, json: boolean): AsyncGenerator<string> {
  if (!json) yield row(["group", "problem", "attempt", "score", "reward", "advantage", "tokens", "versions"]);
  for await (const line of readRolloutRecord(dir, step)) {
    if (json) yield JSON.stringify(decoded(line));
    else if ("rollouts" in line) yield* line.rollouts.map((rollout) => rolloutRow(line, rollout));
  }
}

function rolloutRow(group: RecordedGroup, rollout: RecordedRollout): string {
  const { attempt, verdict, reward, advantage, tokens, versions, masked } = rollout;
  const score = "score" in verdict ? verdict.score.toFixed(3) : "-";
  const ends = versions.length === 0 ? "-" : `${versions[1]}..${versions.at(-1)}`;
  const numbers = [score, reward?.toFixed(3) ?? "-", advantage?.toFixed(3) ?? "-"];
  const cells = [group.group, group.problem, attempt, ...numbers, decodeIds(tokens).length, ends];
  const left = group.dropped ?? (masked === true ? "overlong" : undefined);
  const fate = left === undefined ? verdict.status : `${verdict.status}, dropped: ${left}`;
  const again = group.first === undefined ? "" : `, trained first in step ${group.first}`;
  return `${row(cells.map(String))}  ${group.domain} ${group.family}, ${fate}${again}`;
}

/** Decodes base64 to arrays of numbers. */
function decoded(line: RecordedStep | RecordedGroup): object {
  if (!("rollouts" in line)) return line;
  const rollouts = line.rollouts.map(({ tokens, logprobs, reference, ...rest }) => ({
    ...rest,
    tokens: Array.from(decodeIds(tokens)),
    logprobs: Array.from(decodeLogprobs(logprobs)),
    ...(reference !== undefined && { reference: Array.from(decodeLogprobs(reference)) }),
  }));
  return { ...line, prompt: Array.from(decodeIds(line.prompt)), rollouts };
}

const row = (cells: readonly string[]): string => cells.map((cell) => cell.padStart(9)).join(" ");
