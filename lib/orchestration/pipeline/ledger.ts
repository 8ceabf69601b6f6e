import { HoneError } from "../../errors.ts";
import type { StageCounts } from "../../metrics/index.ts";
import type { DomainName, DropReason } from "../../records.ts";
import type { OutstandingGroups } from "./outstanding-groups.ts";
import type { MixtureCounts } from "./trained-mixture.ts";

interface Account {
  submitted: number;
  completed: number;
  failed: number;
  retained: number;
  trained: number;
  trainedTokens: number;
  /** Rollouts that a replay buffer trained again, counted each time that they train. */
  replayed: number;
  dropped: Partial<Record<DropReason, number>>;
}

/** `replayed` is absent in checkpoints written before the buffer existed. */
export type SavedLedger = Readonly<
  Record<DomainName, Readonly<Omit<Account, "replayed"> & Partial<Pick<Account, "replayed">>>>
>;

/** Rollouts by domain and stage since the run began, and the law they obey. */
export class Ledger {
  readonly #accounts = new Map<DomainName, Account>();

  constructor(domains: readonly DomainName[], saved?: SavedLedger) {
    for (const domain of domains) {
      const account = saved?.[domain] ?? {
        submitted: 0,
        completed: 0,
        failed: 0,
        retained: 0,
        trained: 0,
        trainedTokens: 0,
        dropped: {},
      };
      this.#accounts.set(domain, { replayed: 0, ...structuredClone(account) });
    }
  }

  submitted(domain: DomainName, rollouts: number): void {
    this.#of(domain).submitted += rollouts;
  }

  completed(domain: DomainName, rollouts: number): void {
    this.#of(domain).completed += rollouts;
  }

  failed(domain: DomainName, rollouts: number): void {
    this.#of(domain).failed += rollouts;
  }

  /** Counts rollouts that the filter retained and a step trained on. */
  trained(domain: DomainName, rollouts: number, tokens: number): void {
    const account = this.#of(domain);
    account.retained += rollouts;
    account.trained += rollouts;
    account.trainedTokens += tokens;
  }

  /** Counts the rollouts of a group that a step trained again. */
  replayed(domain: DomainName, rollouts: number): void {
    this.#of(domain).replayed += rollouts;
  }

  /** Generated tokens trained so far, over all domains. */
  get trainedTokens(): number {
    return [...this.#accounts.values()].reduce((sum, account) => sum + account.trainedTokens, 0);
  }

  dropped(domain: DomainName, reason: DropReason, rollouts: number): void {
    if (rollouts === 0) return;
    const { dropped } = this.#of(domain);
    dropped[reason] = (dropped[reason] ?? 0) + rollouts;
  }

  /**
   * submitted = in flight + completed + failed, and completed = trained + dropped (by reason, filtered among
   * them) + waiting to be trained; in flight and waiting are counted in the outstanding groups.
   * Throws HONE_ERR_INTERNAL with the numbers if not.
   */
  check(outstanding: OutstandingGroups): void {
    const { inFlight, completed: waiting } = outstanding.attempts;
    const sum = (of: (account: Account) => number) =>
      [...this.#accounts.values()].reduce((n, a) => n + of(a), 0);
    const submitted = sum((a) => a.submitted);
    const completed = sum((a) => a.completed);
    const failed = sum((a) => a.failed);
    const trained = sum((a) => a.trained);
    const dropped = sum(droppedTotal);
    if (submitted !== inFlight + completed + failed || completed !== trained + dropped + waiting) {
      const numbers = {
        submitted,
        inFlight,
        completed,
        failed,
        trained,
        dropped,
        waiting,
      };
      throw new HoneError(
        "HONE_ERR_INTERNAL",
        `rollouts were lost or counted twice: ${Object.entries(numbers)
          .map(([name, n]) => `${name} ${n}`)
          .join(", ")}`,
        {
          details: numbers,
          hint: "This is a bug in the pipeline; please report it with the run's events.jsonl.",
        },
      );
    }
  }

  counts(outstanding: OutstandingGroups): Record<DomainName, StageCounts> {
    const inFlight = new Map<DomainName, number>();
    for (const { request, completed, failed } of outstanding) {
      const { domain, attempts } = request;
      inFlight.set(domain, (inFlight.get(domain) ?? 0) + attempts - completed - failed);
    }
    return Object.fromEntries(
      [...this.#accounts].map(([domain, account]) => {
        const { failed: _, ...stages } = account;
        return [domain, { ...stages, dropped: { ...account.dropped }, inFlight: inFlight.get(domain) ?? 0 }];
      }),
    );
  }

  /** Counts from which TrainedMixture picks the next domain. */
  progress(outstanding: OutstandingGroups): Record<DomainName, MixtureCounts> {
    const onTheLine = new Map<DomainName, number>();
    for (const { request } of outstanding)
      onTheLine.set(request.domain, (onTheLine.get(request.domain) ?? 0) + request.attempts);
    const progress = ([domain, { submitted, trained, replayed }]: readonly [DomainName, Account]) =>
      [domain, { submitted, trained, replayed, outstanding: onTheLine.get(domain) ?? 0 }] as const;
    return Object.fromEntries([...this.#accounts].map(progress));
  }

  /** Counts without the outstanding groups, which are submitted again after a resume. */
  saved(outstanding: OutstandingGroups): Record<DomainName, Account> {
    const copy = Object.fromEntries([...this.#accounts].map(([d, account]) => [d, structuredClone(account)]));
    for (const { request, completed, failed } of outstanding) {
      const account = copy[request.domain]!;
      account.submitted -= request.attempts;
      account.completed -= completed;
      account.failed -= failed;
    }
    return copy;
  }

  #of(domain: DomainName): Account {
    const account = this.#accounts.get(domain);
    if (account === undefined) throw new HoneError("HONE_ERR_INTERNAL", `no account for domain ${domain}`);
    return account;
  }
}

function droppedTotal(account: Account): number {
  return Object.values(account.dropped).reduce((sum, n) => sum + n, 0);
}
