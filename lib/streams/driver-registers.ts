import { checkKey, checkMs, checkText } from "./checks.ts";
import { type Arguments, type OperationName, REGISTERS, type Result } from "./driver.ts";
import type { KeyValues, WaitForOptions } from "./store.ts";
import type { Waiter } from "./waiter.ts";

type Run = <K extends OperationName>(name: K, args: Arguments<K>) => Promise<Result<K>>;

/** Registers of a driver. They are not fenced: a process that is out of date finds out by reading them. */
export class DriverRegisters implements KeyValues {
  readonly #run: Run;
  readonly #waiter: Waiter;

  constructor(run: Run, waiter: Waiter) {
    this.#run = run;
    this.#waiter = waiter;
  }

  async get(key: string): Promise<string | undefined> {
    checkKey("key", key);
    return (await this.#run("get", { key })) ?? undefined;
  }

  async set(key: string, value: string): Promise<void> {
    checkRegister(key, value);
    await this.#run("set", { key, value });
  }

  async cas(key: string, expected: string | null, value: string): Promise<boolean> {
    checkRegister(key, value);
    if (expected !== null) checkText("expected value", expected);
    return this.#run("cas", { key, expected, value });
  }

  async delete(key: string, expected?: string): Promise<boolean> {
    checkKey("key", key);
    if (expected !== undefined) checkText("expected value", expected);
    return this.#run("delete", { key, expected: expected ?? null });
  }

  async list(prefix: string): Promise<Map<string, string>> {
    checkText("prefix", prefix);
    const found = await this.#run("list", { prefix });
    return new Map(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  }

  async setLease(key: string, value: string, ttlMs: number): Promise<boolean> {
    checkRegister(key, value);
    checkMs("ttlMs", ttlMs);
    return this.#run("setLease", { key, value, ttlMs });
  }

  async waitFor(key: string, { not, ...waiting }: WaitForOptions): Promise<string | undefined> {
    return this.#waiter.until(REGISTERS, waiting, async () => {
      const found = await this.get(key);
      return found === undefined || found === not ? {} : { found };
    });
  }
}

function checkRegister(key: string, value: string): void {
  checkKey("key", key);
  checkText("value", value);
}
