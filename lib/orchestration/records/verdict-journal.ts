import { join } from "node:path";
import type { Recipe } from "../../config/index.ts";
import { identityOf } from "../../data/index.ts";
import { versionOf } from "../../domains/index.ts";
import { HoneError } from "../../errors.ts";
import { AppendFile, RUN_FILES } from "../../metrics/index.ts";
import type { FinishReason, Problem, Rollout, Verdict } from "../../records.ts";
import type { VerificationRequest } from "../../rewards/index.ts";
import { contentHash } from "../../shared/files/content-hash.ts";
import { objectOfLine, textLines } from "../../shared/files/text-lines.ts";
import type { SettledGroup } from "../pipeline/index.ts";
import { rewardPlans, type Verifiers } from "../setup/index.ts";
import { DiskSet } from "./disk-set.ts";
import { decodeIds, encodeIds } from "./encoded-arrays.ts";
import { type CompletionKeys, type JournalLine, type JudgedProblem, takenGroup } from "./journal-lines.ts";
import { beginning } from "./problem-identity.ts";

/** A completion to be judged, and its prompt where it is a rollout. */
type Judged = VerificationRequest & Partial<Pick<Rollout, "promptTokens" | "episode">>;

export interface JournalOptions {
  /** Keep the existing entries. */
  readonly append?: boolean;
  /** Finished steps at which the run resumes: groups that later steps took before are void. */
  readonly stepsBefore?: number;
  /**
   * Decodes a prompt as the model saw it, with special tokens spelled out; without it prompts are not kept.
   */
  readonly decode?: (tokens: Int32Array) => string;
  /** File and line of a problem's row; undefined for a generated problem. */
  readonly placeOf?: (problem: Problem) => string | undefined;
  /** Verifiers that may need token ids: their completions' ids are kept. */
  readonly tokensFor?: ReadonlySet<string>;
}

/**
 * Every judged completion of a run, its verdicts, and the step and reward of its training: lines appended to a file
 * of the run folder, completions addressed by content (problem with its reference and verifier; completion; version
 * of the verifier). Written lines survive the process: one write per call; the next process to open the file cuts off
 * a torn last line.
 */
export class VerdictJournal implements Disposable {
  readonly #file: AppendFile;
  readonly #decode: JournalOptions["decode"];
  readonly #placeOf: JournalOptions["placeOf"];
  readonly #tokensFor: ReadonlySet<string>;
  /** Problems that this process has written down. */
  readonly #problems: DiskSet;
  /** Keys of completions that were judged and not yet taken. */
  readonly #keys = new WeakMap<object, CompletionKeys>();

  /** Throws HONE_ERR_IO naming the file. */
  constructor(path: string, options: JournalOptions = {}) {
    const { append = false, stepsBefore, decode, placeOf, tokensFor } = options;
    this.#file = new AppendFile(path, { fresh: !append });
    this.#problems = new DiskSet(`${path}.problems`);
    this.#decode = decode;
    this.#placeOf = placeOf;
    this.#tokensFor = tokensFor ?? new Set();
    if (append && stepsBefore !== undefined) this.#append([{ sitting: stepsBefore }]);
  }

  /** Wraps verifiers: the journal records their verdicts before the caller gets them. */
  around(verifiers: Verifiers): Verifiers {
    return {
      verify: async (requests) => {
        const verdicts = await verifiers.verify(requests);
        this.add(requests, verdicts);
        return verdicts;
      },
      stats: () => verifiers.stats(),
    };
  }

  add(requests: readonly Judged[], verdicts: readonly Verdict[]): void {
    this.#expectOpen();
    this.#append(requests.flatMap((request, i) => this.#lines(request, verdicts[i]!)));
  }

  /** Adds a verdict on a completion that the journal already has. */
  addVerdict(completion: string, version: number, verdict: Verdict): void {
    this.#append([{ verdict, on: completion, version }]);
  }

  /** Records the groups that a step took, in one write. @param step from 1. */
  taken(groups: readonly SettledGroup[], step: number): void {
    const keysOf = (rollout: Rollout) => this.#keys.get(rollout) ?? keysOfCompletion(rollout);
    this.#append(groups.flatMap((group) => takenGroup(group, step, keysOf) ?? []));
  }

  [Symbol.dispose](): void {
    if (!this.#file.isOpen) return;
    this.#file.close();
    this.#problems[Symbol.dispose]();
  }

  /** Checked before the index of problems is used, which is closed with the file. */
  #expectOpen(): void {
    const { isOpen, path } = this.#file;
    if (!isOpen) throw new HoneError("HONE_ERR_STATE", `${path}: write after close`);
  }

  #lines(request: Judged, verdict: Verdict): JournalLine[] {
    const { problem, text, finish, episode, tokens } = request;
    const given = episode && { given: episode.givenText };
    const ids = tokens && this.#tokensFor.has(problem.verifier) && { ids: encodeIds(tokens) };
    const keys = keysOfCompletion(request);
    const { completion, of } = keys;
    this.#keys.set(request, keys);
    const lines: JournalLine[] = [
      { completion, of, finish, text, ...given, ...ids },
      { verdict, on: completion, version: versionOf(problem.verifier) },
    ];
    return this.#problems.add(of) ? [{ problem: of, ...this.#judged(request) }, ...lines] : lines;
  }

  #judged({ problem, promptTokens }: Judged): JudgedProblem {
    const { id, domain, family, level, verifier, reference } = problem;
    const prompt = promptTokens && this.#decode?.(promptTokens);
    const row = this.#placeOf?.(problem);
    return {
      id,
      domain,
      family,
      level,
      verifier,
      reference,
      ...(prompt !== undefined && { prompt }),
      identity: identityOf(problem, row !== undefined),
      ...(row !== undefined && { row }),
      begins: beginning(problem.question),
    };
  }

  #append(lines: readonly JournalLine[]): void {
    if (lines.length === 0) return;
    this.#file.append(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }
}

function keysOfCompletion({ problem, finish, text }: VerificationRequest): CompletionKeys {
  const of = keyOfProblem(problem);
  return { of, completion: contentHash(of, finish, text) };
}

/** Caches keys, since all completions of a group share one problem. */
const problemKeys = new WeakMap<Problem, string>();

function keyOfProblem(problem: Problem): string {
  let key = problemKeys.get(problem);
  if (key === undefined) {
    const { id, domain, verifier, reference } = problem;
    key = contentHash(verifier, domain, String(id), JSON.stringify(reference) ?? "");
    problemKeys.set(problem, key);
  }
  return key;
}

/**
 * An entry of a journal, in the journal's order: a completion when it was first judged, or a verdict on it.
 */
export type JournalEntry = JournaledCompletion | JournaledVerdict;

export interface JournaledCompletion {
  readonly kind: "completion";
  readonly key: string;
  readonly problem: JudgedProblem;
  readonly text: string;
  readonly finish: FinishReason;
  readonly tokens?: Int32Array;
}

/** The first verdict on a completion in the journal is the one that the run used; later ones come from rescores. */
export interface JournaledVerdict {
  readonly kind: "verdict";
  /** Key of the completion. */
  readonly key: string;
  readonly version: number;
  readonly verdict: Verdict;
}

/** The journal of a run folder; undefined if the recipe disables it. Throws HONE_ERR_IO naming the file. */
export function openJournal(
  recipe: Recipe,
  dir: string,
  options: JournalOptions,
): VerdictJournal | undefined {
  if (!recipe.verification.journal) return undefined;
  const inPython = rewardPlans(recipe).filter(({ parts }) =>
    parts.some(({ giver }) => giver.by === "python"),
  );
  const tokensFor = new Set(inPython.map(({ verifier }) => verifier));
  return new VerdictJournal(join(dir, RUN_FILES.verdicts), { ...options, tokensFor });
}

/**
 * Reads a journal, keeping only its distinct problems and a hash of each completion in memory. A torn last line is left
 * out. Throws HONE_ERR_IO if it cannot be read, HONE_ERR_FORMAT naming the line if one before the last is damaged.
 */
export async function* readVerdictJournal(path: string): AsyncGenerator<JournalEntry> {
  const known = new Known();
  const hint = "The run's completions are kept where verification.journal is true, its default.";
  let number = 0;
  let damaged: HoneError | undefined;
  for await (const text of textLines(path, hint)) {
    number += 1;
    if (damaged !== undefined) throw damaged;
    const line = objectOfLine(text) as JournalLine | undefined;
    const entry = line && known.entryOf(line);
    if (entry === undefined)
      damaged = new HoneError(
        "HONE_ERR_FORMAT",
        `${path}:${number}: not a line of a verdict journal: ${text.slice(0, 80)}`,
      );
    else if (entry !== "nothing new") yield entry;
  }
}

/** Entries that later lines of a journal may refer to. */
class Known {
  readonly #problems = new Map<string, JudgedProblem>();
  readonly #completions = new Set<string>();

  /** The entry of a line; undefined if its kind is unknown or it refers to an entry that no earlier line has. */
  entryOf(line: JournalLine): JournalEntry | "nothing new" | undefined {
    if ("problem" in line) {
      const { problem: key, ...problem } = line;
      this.#problems.set(key, problem);
      return "nothing new";
    }
    if ("completion" in line) {
      const { completion: key, of, finish, text, ids } = line;
      const problem = this.#problems.get(of);
      if (problem === undefined) return undefined;
      if (this.#completions.has(key)) return "nothing new";
      this.#completions.add(key);
      return { kind: "completion", key, problem, text, finish, ...(ids && { tokens: decodeIds(ids) }) };
    }
    if ("members" in line) return this.#problems.has(line.of) ? "nothing new" : undefined;
    if ("sitting" in line) return "nothing new";
    if (!("verdict" in line) || !this.#completions.has(line.on)) return undefined;
    return { kind: "verdict", key: line.on, version: line.version, verdict: line.verdict };
  }
}
