import type { PipelineStatus, ProcessEnd, ProcessStatus } from "../../metrics/index.ts";
import type { CoreProcesses, Verifiers } from "../setup/index.ts";

export interface ProcessFacts {
  readonly phase: string;
  readonly version: PipelineStatus["version"];
  readonly tokensPerSecond: number;
  /** The trainer is in a step. */
  readonly training: boolean;
  /** Absent if this process itself trains and samples. */
  readonly others: CoreProcesses | undefined;
  readonly verifiers: Verifiers;
}

/** Lists every process of a run: this one, the actors and trainers, and the verifier processes. */
export function processRows(facts: ProcessFacts): ProcessStatus[] {
  const { others, verifiers, version } = facts;
  const list = (others?.list ?? []).map((row) =>
    row.name.startsWith("trainer.")
      ? { ...row, version: version.trainer, doing: trainerWords(row, facts) }
      : row,
  );
  const judges = (verifiers.pids?.() ?? []).map((pid, i) => ({
    name: `verifier.${i}`,
    pid,
    state: "alive" as const,
    restarts: 0,
    pooled: true as const,
    doing: "judges",
  }));
  return [runRow(facts), ...list, ...judges];
}

function runRow({ phase, version, tokensPerSecond, training, others }: ProcessFacts): ProcessStatus {
  const trains = !(others?.list ?? []).some(({ name }) => name.startsWith("trainer."));
  const samples = others === undefined;
  const doing =
    phase !== "training" ? phase : training && trains ? "trains" : samples ? "samples" : "decides";
  return {
    name: "run",
    pid: process.pid,
    state: "alive",
    restarts: 0,
    version: version.trainer,
    ...(samples && { lag: Math.max(0, version.trainer - version.engine), tokensPerSecond }),
    doing,
  };
}

function trainerWords({ state, doing }: ProcessStatus, { training }: ProcessFacts): string {
  if (state !== "alive") return doing;
  return training ? "trains" : "waits for a batch";
}

/** Reports each exited process once; for an agent's process, whose exit is not observed here, reports its successor. */
export class EndedProcesses {
  readonly #told = new Map<string, number>();

  /** Sentences about processes that newly ended, from the rows. */
  of(rows: readonly ProcessStatus[]): string[] {
    return rows.flatMap(({ name, restarts, ended }) => {
      const news = ended?.atMs ?? restarts;
      if (news === (this.#told.get(name) ?? 0)) return [];
      this.#told.set(name, news);
      return [ended ? `${name} ended ${endWords(ended)}` : `${name} was started again by its agent`];
    });
  }
}

function endWords({ how, words }: ProcessEnd): string {
  const last = words.trim().split("\n").at(-1)!;
  return last === "" ? how : `${how}; it printed last: ${last}`;
}
