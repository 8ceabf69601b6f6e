import { type Clock, systemClock } from "../clock.ts";
import { deadLettersOf } from "./checks.ts";
import {
  type Arguments,
  type Driver,
  type Fence,
  type Held,
  type OperationName,
  type Operations,
  REGISTERS,
  type Result,
} from "./driver.ts";
import { MemoryRegisters } from "./memory-registers.ts";
import { giveBack, MemoryStream } from "./memory-stream.ts";
import { exhausted, fencedBy, StreamError } from "./stream-error.ts";

/** Streams in this process's memory. The reference for the other drivers (test/contract/streams.test.ts). */
export class MemoryDriver implements Driver {
  readonly pauseMs = { first: 60_000, most: 60_000 };
  readonly #streams = new Map<string, MemoryStream>();
  readonly #registers = new MemoryRegisters();
  readonly #clock: Clock;
  #tell: (topic: string) => void = () => {};

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  async run<K extends OperationName>(name: K, args: Arguments<K>, fence?: Fence): Promise<Result<K>> {
    if (fence !== undefined) this.#checkFence(fence);
    const operation = this.#operations[name] as (args: Arguments<K>, fence?: Fence) => Result<K>;
    return operation(args, fence);
  }

  onNews(listener: (topic: string) => void): void {
    this.#tell = listener;
  }

  async close(): Promise<void> {
    this.#streams.clear();
  }

  readonly #operations: Operations = {
    append: ({ stream, ...what }) => {
      const known = this.#stream(stream).offsetOf(what.key);
      return known ?? this.#append(stream, what);
    },
    lease: (args, fence) => {
      const stream = this.#stream(args.stream);
      const bury = (offset: number, deliveries: number) =>
        this.#bury({ ...args, offset }, exhausted(deliveries));
      return stream.lease({ ...args, fence }, this.#now(), bury);
    },
    renew: ({ leaseMs, ...held }) => {
      const pending = this.#stream(held.stream).held(held);
      if (pending === undefined) return false;
      pending.untilMs = this.#now() + leaseMs;
      return true;
    },
    forward: ({ out: { stream, ...what }, keeps, ...held }) => {
      const isHeld = this.#stream(held.stream).held(held) !== undefined;
      const isKnown = this.#stream(stream).offsetOf(what.key) !== undefined;
      if (!isHeld && !isKnown)
        throw new StreamError({ why: "lease-lost", about: held.stream, found: String(held.offset) });
      if (isHeld && !keeps) this.#stream(held.stream).finish(held);
      return isKnown ? null : this.#append(stream, what);
    },
    release: ({ end, ...held }) => {
      const stream = this.#stream(held.stream);
      const pending = stream.held(held);
      if (pending === undefined) return false;
      if (end === "retry") {
        giveBack(pending, end);
        this.#tell(held.stream);
      } else stream.finish(held);
      if (typeof end === "object") this.#bury(held, end.dead);
      return true;
    },
    free: ({ key, as }) => {
      const value = this.#registers.get(key, this.#now());
      let freed = 0;
      for (const [name, stream] of this.#streams) {
        const those = stream.fencedOut(key, value);
        for (const pending of those) giveBack(pending, as);
        if (those.length > 0) this.#tell(name);
        freed += those.length;
      }
      return freed;
    },
    read: ({ stream, after, max }) => this.#stream(stream).read(after, max),
    pin: ({ stream, name, cursor }) => {
      this.#stream(stream).pin(name, cursor);
      return null;
    },
    trim: ({ stream, before }) => this.#stream(stream).trim(before),
    depth: (args) => {
      const dead = this.#stream(deadLettersOf(args.stream)).last;
      return this.#stream(args.stream).depth(args, this.#now(), dead);
    },
    get: ({ key }) => this.#registers.get(key, this.#now()),
    set: ({ key, value }) => this.#changed(this.#registers.set(key, value)),
    cas: (args) => this.#changed(this.#registers.cas(args, this.#now())),
    delete: (args) => this.#registers.delete(args, this.#now()),
    list: ({ prefix }) => this.#registers.list(prefix, this.#now()),
    setLease: (args) => this.#changed(this.#registers.setLease(args, this.#now())),
  };

  #append(stream: string, what: Omit<Arguments<"append">, "stream">, reason?: string): number {
    const offset = this.#stream(stream).append(what, this.#now(), reason);
    this.#tell(stream);
    return offset;
  }

  #bury({ stream, group, offset }: Omit<Held, "token">, reason: string): void {
    const { key, payload, size } = this.#stream(stream).at(offset);
    this.#append(deadLettersOf(stream), { key: `${group}/${offset}/${key}`, payload, size }, reason);
  }

  #stream(name: string): MemoryStream {
    const stream = this.#streams.get(name) ?? new MemoryStream(name);
    this.#streams.set(name, stream);
    return stream;
  }

  #checkFence({ key, value }: Fence): void {
    const found = this.#registers.get(key, this.#now()) ?? undefined;
    if (found !== value) throw new StreamError({ why: "fenced", about: key, found: fencedBy(found, value) });
  }

  #changed<T>(result: T): T {
    this.#tell(REGISTERS);
    return result;
  }

  #now(): number {
    return this.#clock.now();
  }
}
