import type { Arguments, Held, OperationName, Result } from "../driver.ts";
import type { Entry } from "../store.ts";
import { exhausted } from "../stream-error.ts";

export type Argument = string | number | Buffer;
/** A reply of ioredis: strings as Buffers. */
export type Reply = Buffer | number | null | readonly Reply[];

/** How an operation calls its script and decodes the reply. */
interface Call<K extends OperationName> {
  ask(args: Arguments<K>): readonly Argument[];
  answer(reply: readonly Reply[]): Result<K>;
}

const held = ({ stream, group, offset, token }: Held) => [stream, group, offset, token] as const;
const number = (reply: Reply | undefined) => Number(String(reply));
const text = (reply: Reply | undefined) => String(reply);
/** ioredis sends other arrays as text. */
const binary = (p: Uint8Array) => Buffer.from(p.buffer, p.byteOffset, p.byteLength);
const isTrue = ([reply]: readonly Reply[]) => number(reply) === 1;
/** The reason of a dead letter in scripts.ts, with # in place of the number. */
const EXHAUSTED = exhausted("#");

/** An element of XRANGE's reply: [id, [k, key, p, payload, r, reason]]. */
function entryOf(reply: Reply): Entry {
  const [id, fields] = reply as [Buffer, readonly Buffer[]];
  const [, key, , payload, , reason] = fields;
  const entry = { offset: Number.parseInt(text(id), 10), key: text(key), payload: new Uint8Array(payload!) };
  return reason === undefined ? entry : { ...entry, reason: text(reason) };
}

export const CALLS: { readonly [K in OperationName]: Call<K> } = {
  append: {
    ask: ({ stream, key, payload, size }) => [stream, key, binary(payload), size.samples, size.tokens],
    answer: ([offset]) => number(offset),
  },
  lease: {
    ask: (o) => [o.stream, o.group, o.token, o.max, o.leaseMs, o.maxDeliveries, EXHAUSTED],
    answer: ([entries, nextMs]) => {
      const leases = (entries as readonly [Reply, number, number][]).map(([entry, deliveries, again]) => ({
        ...entryOf(entry),
        deliveries,
        isAgain: again === 1,
      }));
      return nextMs === undefined || nextMs === null ? { leases } : { leases, nextMs: number(nextMs) };
    },
  },
  renew: { ask: (o) => [...held(o), o.leaseMs], answer: isTrue },
  forward: {
    ask: ({ out: { stream, key, payload, size }, keeps, ...lease }) => {
      return [...held(lease), stream, key, binary(payload), size.samples, size.tokens, keeps ? "keeps" : ""];
    },
    answer: ([offset]) => (text(offset) === "" ? null : number(offset)),
  },
  release: {
    ask: ({ end, ...lease }) => [...held(lease), ...(typeof end === "string" ? [end] : ["dead", end.dead])],
    answer: isTrue,
  },
  free: { ask: ({ key, as }) => [key, as === "retry" ? 1 : 0], answer: ([count]) => number(count) },
  read: {
    ask: ({ stream, after, max }) => [stream, after, max],
    answer: ([entries]) => (entries as readonly Reply[]).map(entryOf),
  },
  pin: { ask: ({ stream, name, cursor }) => [stream, name, cursor ?? ""], answer: () => null },
  trim: { ask: ({ stream, before }) => [stream, before], answer: ([count]) => number(count) },
  depth: {
    ask: ({ stream, group = "", after = "" }) => [stream, group, after],
    answer: (reply) => {
      const [items, samples, tokens, oldestMs, dead] = reply.map(number);
      return { items: items!, samples: samples!, tokens: tokens!, oldestMs: oldestMs!, dead: dead! };
    },
  },
  get: {
    ask: ({ key }) => [key],
    answer: ([value]) => (value === undefined || value === null ? null : text(value)),
  },
  set: { ask: ({ key, value }) => [key, value], answer: () => null },
  cas: {
    ask: ({ key, expected, value }) => [key, value, expected === null ? "0" : "1", expected ?? ""],
    answer: isTrue,
  },
  delete: {
    ask: ({ key, expected }) => [key, expected === null ? "0" : "1", expected ?? ""],
    answer: isTrue,
  },
  list: {
    ask: ({ prefix }) => [prefix],
    answer: (reply) =>
      Array.from(
        { length: reply.length / 2 },
        (_, i) => [text(reply[2 * i]), text(reply[2 * i + 1])] as const,
      ),
  },
  setLease: { ask: ({ key, value, ttlMs }) => [key, value, ttlMs], answer: isTrue },
};
