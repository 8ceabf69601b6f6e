import {
  identityOfLine,
  type JournalLine,
  type TakenGroup,
  type TakenMember,
} from "../orchestration/index.ts";
import { comparableAnswer, readCompletion, wordsOf } from "./answer.ts";
import { type Key, KeyMap, keyOf } from "./key-map.ts";
import { DROPS, FINISHES, NO_THOUGHT, STATUSES, type Tables } from "./tables.ts";
import { Verdicts } from "./verdicts.ts";

/** Bytes of the journal that a line takes. */
export interface Place {
  readonly at: number;
  readonly size: number;
}

type Of<K extends string> = Extract<JournalLine, Record<K, unknown>>;

const fieldsOf = ([key0, key1, key2, key3]: Key) => ({ key0, key1, key2, key3 });

/** Turns lines of a journal, in their order, into rows of the tables. */
export class IndexBuilder {
  readonly #names: string[];
  readonly #tables: Tables;
  readonly #numbers: Map<string, number>;
  readonly #problems: KeyMap;
  readonly #identities: KeyMap;
  readonly #completions: KeyMap;
  readonly #verdicts: Verdicts;

  /** @param names of domains and families, by the numbers that the tables have; new ones are added. */
  constructor(tables: Tables, names: string[]) {
    this.#names = names;
    this.#tables = tables;
    this.#numbers = new Map(names.map((name, i) => [name, i]));
    this.#problems = new KeyMap(tables.problems);
    this.#identities = new KeyMap(identitiesOf(tables));
    this.#completions = new KeyMap(tables.completions);
    this.#verdicts = new Verdicts(tables.verdicts);
  }

  /** Returns false for a line that refers to a missing earlier line. */
  add(line: JournalLine, place: Place): boolean {
    if ("problem" in line) return this.#problem(line, place);
    if ("completion" in line) return this.#completion(line, place);
    if ("members" in line) return this.#group(line, place);
    if ("sitting" in line) {
      this.#tables.sessions.push({ step: line.sitting, members: this.#tables.members.rows });
      return true;
    }
    return "verdict" in line && this.#verdict(line, place);
  }

  #problem(line: Of<"problem">, place: Place): boolean {
    const { problem, id, domain, family, level, reference } = line;
    const [key, identity] = [keyOf(problem), keyOf(identityOfLine(line))];
    if (key === undefined || identity === undefined) return false;
    const { problems } = this.#tables;
    const known = this.#problems.find(key) ?? this.#identities.find(identity);
    const same = known === undefined ? problems.rows : problems.columns.same[known]!;
    const [reference0, reference1] = wordsOf(JSON.stringify(reference) ?? "");
    const numbers = { domain: this.#numberOf(domain), family: this.#numberOf(family), level };
    const [identity0, identity1, identity2, identity3] = identity;
    const told = { same, identity0, identity1, identity2, identity3, reference0, reference1 };
    problems.push({ ...place, id, ...numbers, ...told }, fieldsOf(key));
    return true;
  }

  /** Adds a row for a completion. A completion that was sampled a second time occurs twice in the journal, but keeps its first row. */
  #completion({ completion, of, finish, text }: Of<"text">, place: Place): boolean {
    const key = keyOf(completion);
    const ofKey = keyOf(of);
    const problem = ofKey && this.#problems.find(ofKey);
    if (key === undefined || problem === undefined || typeof text !== "string") return false;
    if (this.#completions.find(key) !== undefined) return true;
    const { thought } = readCompletion(text);
    const answer = comparableAnswer(text);
    const [answer0, answer1] = answer === undefined ? [0, 0] : wordsOf(answer);
    const { at, size } = place;
    const read = { chars: text.length, thought: thought?.trim().length ?? NO_THOUGHT, answer0, answer1 };
    this.#tables.completions.push(
      { at, size, problem, finish: FINISHES.indexOf(finish), ...read },
      fieldsOf(key),
    );
    return true;
  }

  #verdict({ verdict, on, version }: Of<"verdict">, place: Place): boolean {
    const key = keyOf(on);
    const completion = key && this.#completions.find(key);
    if (completion === undefined) return false;
    const status = STATUSES.indexOf(verdict.status);
    const score = verdict.status === "unscored" ? Number.NaN : verdict.score;
    if (status < 0 || this.#isKnown(completion, [status, score, version])) return status >= 0;
    this.#tables.verdicts.push({ completion, version, status, score }, place);
    return true;
  }

  /**
   * True if the verdict is already known: a completion that was sampled again was judged again, usually with an equal
   * verdict.
   */
  #isKnown(completion: number, verdict: readonly number[]): boolean {
    const { columns } = this.#tables.verdicts;
    const rows = [this.#verdicts.first(completion), this.#verdicts.last(completion)];
    return rows.some((row) => {
      if (row === undefined) return false;
      const known = [columns.status[row], columns.score[row], columns.version[row]];
      return known.every((n, i) => Object.is(n, verdict[i]));
    });
  }

  #group({ step, group, of, dropped, members }: TakenGroup, { at, size }: Place): boolean {
    const ofKey = keyOf(of);
    const problem = ofKey && this.#problems.find(ofKey);
    if (problem === undefined || !Array.isArray(members)) return false;
    const completions = members.map(({ completion }) => {
      const key = keyOf(completion);
      return key && this.#completions.find(key);
    });
    if (completions.includes(undefined)) return false;
    const shared = { at, size, step, group, problem, dropped: DROPS.indexOf(dropped) };
    for (const [i, member] of members.entries())
      this.#tables.members.push(memberRow(member, completions[i]!), shared);
    return true;
  }

  #numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }
}

/** Returns a view of the problems by identity; the columns are read anew, since growing replaces them. */
function identitiesOf({ problems }: Tables): ConstructorParameters<typeof KeyMap>[0] {
  return {
    get rows() {
      return problems.rows;
    },
    get columns() {
      const { identity0, identity1, identity2, identity3 } = problems.columns;
      return { key0: identity0, key1: identity1, key2: identity2, key3: identity3 };
    },
  };
}

/** A member's own values; missing numbers are NaN. */
function memberRow(member: TakenMember, completion: number) {
  const { attempt, tokens, versions, status, masked = false } = member;
  const { score = Number.NaN, reward = Number.NaN, advantage = Number.NaN } = member;
  const { penaltyScale = Number.NaN, penalty = Number.NaN } = member;
  return {
    completion,
    attempt,
    tokens,
    firstVersion: versions[1] ?? 0,
    lastVersion: versions.at(-1) ?? 0,
    status: STATUSES.indexOf(status),
    masked: Number(masked),
    score,
    reward,
    penaltyScale,
    penalty,
    advantage,
  };
}
