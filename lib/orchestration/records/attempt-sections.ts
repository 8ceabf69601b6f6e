import type { AttemptTokens } from "../../native/attempt-tokens.ts";
import { joinedBytes, rowsFrom, rowsOf } from "../../native/routes.ts";
import type { Routes } from "../../records.ts";
import { type Message, type Section, sectionOf } from "../../streams/index.ts";
import { expandedRuns, versionRuns } from "./version-runs.ts";

type Numbers = Int32Array | Float32Array | Uint32Array;

/** Encodes attempts' tokens as sections of a message: 12 bytes per token, and weight versions as runs. */
export function attemptSections(all: readonly AttemptTokens[]): Record<string, Section> {
  return {
    attempts: Int32Array.from(all, ({ attempt }) => attempt),
    from: Int32Array.from(all, ({ from }) => from),
    lengths: Int32Array.from(all, ({ tokens }) => tokens.length),
    finish: Uint8Array.from(all, ({ finish }) => finish),
    tokens: joined(Int32Array, all, "tokens"),
    logprobs: joined(Float32Array, all, "logprobs"),
    entropies: joined(Float32Array, all, "entropies"),
    versions: Uint32Array.from(versionRuns(joined(Uint32Array, all, "versions"))),
    oldestKv: Uint32Array.from(versionRuns(joined(Uint32Array, all, "oldestKv"))),
    ...routeSections(all.map(({ routes }) => routes)),
  };
}

/** Routes of several attempts as arrays of a message: rows of each, and the bytes of all; nothing where none has any. */
export function routeSections(all: readonly (Routes | undefined)[]): Record<string, Section> {
  const routes = joinedBytes(all);
  return routes.length === 0 ? {} : { routeRows: Int32Array.from(all, rowsOf), routes };
}

/** Decodes the arrays that routeSections wrote, into an entry per attempt. */
export function routesIn(message: Message, attempts: number): (Routes | undefined)[] {
  if (!Object.hasOwn(message.sections, "routeRows")) return new Array(attempts);
  const rows = sectionOf(message, "routeRows", "i32");
  const bytes = sectionOf(message, "routes", "u8");
  const width = bytes.length / rows.reduce((sum, n) => sum + n, 0);
  let end = 0;
  return Array.from(rows, (n) => {
    const begin = end;
    end += n;
    return n === 0 ? undefined : rowsFrom({ width, bytes }, begin, end);
  });
}

/**
 * Decodes the arrays that attemptSections wrote; returns [] if the message has none. Throws HONE_ERR_FORMAT if they
 * are inconsistent.
 */
export function attemptTokens(message: Message): AttemptTokens[] {
  if (!Object.hasOwn(message.sections, "attempts")) return [];
  const ints = (name: string) => sectionOf(message, name, "i32");
  const [attempts, from, lengths, tokens] = [ints("attempts"), ints("from"), ints("lengths"), ints("tokens")];
  const finish = sectionOf(message, "finish", "u8");
  const logprobs = sectionOf(message, "logprobs", "f32");
  const entropies = sectionOf(message, "entropies", "f32");
  const versions = expandedRuns(sectionOf(message, "versions", "u32"), tokens.length);
  const oldestKv = expandedRuns(sectionOf(message, "oldestKv", "u32"), tokens.length);
  const routes = routesIn(message, attempts.length);
  let end = 0;
  return Array.from(attempts, (attempt, i) => {
    const begin = end;
    end += lengths[i]!;
    return {
      attempt,
      from: from[i]!,
      tokens: tokens.slice(begin, end),
      logprobs: logprobs.slice(begin, end),
      entropies: entropies.slice(begin, end),
      versions: versions.slice(begin, end),
      oldestKv: oldestKv.slice(begin, end),
      ...(routes[i] && { routes: routes[i] }),
      finish: finish[i]!,
    };
  });
}

function joined<A extends Numbers>(
  Kind: new (length: number) => A,
  all: readonly AttemptTokens[],
  field: "tokens" | "logprobs" | "entropies" | "versions" | "oldestKv",
): A {
  const whole = new Kind(all.reduce((sum, { tokens }) => sum + tokens.length, 0));
  let at = 0;
  for (const each of all) {
    whole.set(each[field], at);
    at += each.tokens.length;
  }
  return whole;
}
