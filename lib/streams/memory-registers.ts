import type { Arguments } from "./driver.ts";

/** Registers in memory. Times are milliseconds of the caller's clock. */
export class MemoryRegisters {
  readonly #kept = new Map<string, { readonly value: string; readonly untilMs: number }>();

  get(key: string, now: number): string | null {
    const kept = this.#kept.get(key);
    if (kept !== undefined && kept.untilMs <= now) this.#kept.delete(key);
    return this.#kept.get(key)?.value ?? null;
  }

  set(key: string, value: string, untilMs = Number.POSITIVE_INFINITY): null {
    this.#kept.set(key, { value, untilMs });
    return null;
  }

  cas({ key, expected, value }: Arguments<"cas">, now: number): boolean {
    if (this.get(key, now) !== expected) return false;
    this.set(key, value);
    return true;
  }

  delete({ key, expected }: Arguments<"delete">, now: number): boolean {
    const found = this.get(key, now);
    if (found === null || (expected !== null && found !== expected)) return false;
    return this.#kept.delete(key);
  }

  list(prefix: string, now: number): (readonly [string, string])[] {
    const keys = [...this.#kept.keys()].filter((key) => key.startsWith(prefix));
    return keys.flatMap((key) => {
      const value = this.get(key, now);
      return value === null ? [] : [[key, value] as const];
    });
  }

  setLease({ key, value, ttlMs }: Arguments<"setLease">, now: number): boolean {
    const found = this.get(key, now);
    if (found !== null && found !== value) return false;
    this.set(key, value, now + ttlMs);
    return true;
  }
}
