import type { AttemptTokens } from "./attempt-tokens.ts";
import { engineMessage } from "./engine-message.ts";
import {
  type EngineFace,
  type EngineHandlers,
  type EngineMessage,
  type EngineStats,
  FINISH,
  type GenerationRequest,
  type VersionRun,
} from "./face.ts";
import { routesByToken, routesOfMessage } from "./routes.ts";

/** First id of the core's requests that are parts of a caller's request; callers choose smaller ids. */
const FIRST_ID = 2 ** 52;
const LENGTH = FINISH.indexOf("length");

type Asked = Pick<EngineFace, "submit" | "abort">;

/** An attempt as a separate request of the core, whose prompt is the attempt's sequence so far. */
interface Part {
  readonly request: GenerationRequest;
  readonly attempt: number;
  /** Tokens that were sampled before this process; if the attempt may be resumed again, later tokens are appended. */
  readonly tokens: number[];
  /** Tokens at which it is resumed, ascending. */
  readonly later: readonly VersionRun[];
}

/**
 * Translates attempts to resume (`begun`, and plans with `anew`) into requests that the core supports: each becomes a
 * separate request with its tokens so far appended to its prompt, because a token's draw is keyed by its position in
 * the whole sequence. Reports the core's results under the caller's request. Passes other requests through unchanged.
 */
export class AttemptParts {
  readonly #core: Asked;
  readonly #handlers: Pick<EngineHandlers, "onMessage">;
  readonly #parts = new Map<number, Part>();
  #takenUp = 0;
  #takenUpTokens = 0;
  #next = FIRST_ID;
  #isOver = false;
  #waiting: { readonly version: number; readonly go: () => void } | undefined;

  constructor(core: Asked, handlers: Pick<EngineHandlers, "onMessage">) {
    this.#core = core;
    this.#handlers = handlers;
  }

  /** Throws what the core throws. */
  submit(request: GenerationRequest): void {
    const { begun = [], plan } = request;
    if (begun.length === 0 && !plan?.some((runs) => runs.some(({ anew }) => anew)))
      this.#core.submit(request);
    else this.#divide(request, begun);
    this.#takenUp += begun.length;
    this.#takenUpTokens += begun.reduce((sum, { tokens }) => sum + tokens.length, 0);
    // reports nothing to the caller before submit() returns
    if (begun.length > 0) queueMicrotask(() => this.#handlers.onMessage(told(request.id, begun)));
  }

  #divide(request: GenerationRequest, begun: readonly AttemptTokens[]): void {
    for (let attempt = 0; attempt < request.count; attempt++) {
      const { tokens = [], finish = 0 } = begun.find((each) => each.attempt === attempt) ?? {};
      if (finish !== 0) continue;
      const later = request.plan?.[attempt]?.filter((run) => run.anew && run.fromToken > tokens.length) ?? [];
      this.#begin({ request, attempt, tokens: [...tokens], later });
    }
  }

  /** The core's statistics, with those of resumed attempts added. */
  stats(stats: EngineStats): EngineStats {
    return { ...stats, takenUp: this.#takenUp, takenUpTokens: this.#takenUpTokens };
  }

  abort(id: number, attempt?: number): void {
    for (const [part, { request, attempt: which }] of this.#parts)
      if (request.id === id && (attempt ?? which) === which) this.#core.abort(part);
    this.#core.abort(id, attempt);
  }

  /** Replaces the core's request ids and positions in a message by the caller's, in place. */
  received(message: EngineMessage): EngineMessage {
    if (this.#parts.size === 0) return message;
    const { request, attempt, finish, token, endedRequest, endedAttempt } = message;
    for (let i = 0; i < request.length; i++) {
      const part = this.#parts.get(request[i]!);
      if (part === undefined) continue;
      const id = request[i]!;
      request[i] = part.request.id;
      attempt[i] = part.attempt;
      if (part.later.length > 0) part.tokens.push(token[i]!);
      if (finish[i] !== 0) finish[i] = this.#ended(id, part, finish[i]!);
    }
    for (let i = 0; i < endedRequest.length; i++) {
      const part = this.#parts.get(endedRequest[i]!);
      if (part === undefined) continue;
      this.#parts.delete(endedRequest[i]!);
      endedRequest[i] = part.request.id;
      endedAttempt[i] = part.attempt;
    }
    this.#look();
    return message;
  }

  /** Resolves when the core has all parts that restart with this version or an older one, or has ended (`over`). */
  takenUp(version: number): Promise<void> {
    return new Promise((go) => {
      this.#waiting = { version, go };
      this.#look();
    });
  }

  /** Called when the core has ended: no further part begins. */
  over(): void {
    this.#isOver = true;
    this.#look();
  }

  #begin(part: Part): void {
    const id = this.#next++;
    this.#core.submit(asRequest(id, part));
    this.#parts.set(id, part);
  }

  /** Ends a part. Returns how its attempt ended, 0 if the attempt goes on. */
  #ended(id: number, part: Part, finish: number): number {
    this.#parts.delete(id);
    const [next, ...later] = part.later;
    if (next === undefined || finish !== LENGTH) return finish;
    this.#begin({ ...part, later });
    return 0;
  }

  #look(): void {
    if (this.#waiting === undefined) return;
    const { version, go } = this.#waiting;
    const isDue = ({ later }: Part) => later.some((run) => run.version <= version);
    if (!this.#isOver && [...this.#parts.values()].some(isDue)) return;
    this.#waiting = undefined;
    go();
  }
}

function asRequest(id: number, { request, attempt, tokens, later }: Part): GenerationRequest {
  const { begun: _, recordEveryTokens: __, plan, seeds, ...asked } = request;
  const from = tokens.length;
  const until = later[0]?.fromToken ?? request.maxTokens;
  const prompt = new Int32Array(request.prompt.length + from);
  prompt.set(request.prompt);
  prompt.set(tokens, request.prompt.length);
  return {
    ...asked,
    id,
    prompt,
    count: 1,
    firstAttempt: request.firstAttempt + (seeds ? 0 : attempt),
    maxTokens: until - from,
    begunTokens: from,
    ...(seeds && { seeds: [seeds[attempt]!] }),
    ...(plan && { plan: [within(plan[attempt]!, from, until)] }),
  };
}

/** The version runs of tokens [from, until), with positions relative to `from`. */
function within(plan: readonly VersionRun[], from: number, until: number): VersionRun[] {
  const runs: VersionRun[] = [];
  for (const [i, { fromToken, version }] of plan.entries()) {
    const [begin, end] = [Math.max(from, fromToken), Math.min(until, plan[i + 1]?.fromToken ?? until)];
    if (begin < end) runs.push({ fromToken: begin - from, version });
  }
  return runs;
}

/** The message that an engine would have sent for the tokens of these attempts. */
function told(id: number, begun: readonly AttemptTokens[]): EngineMessage {
  const n = begun.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const routes = begun.flatMap((each) => routesByToken(each.routes, each.tokens.length));
  const message = { ...engineMessage(n), ...routesOfMessage(routes) };
  message.request.fill(id);
  let at = 0;
  for (const { attempt, tokens, logprobs, entropies, versions, oldestKv, finish } of begun) {
    message.attempt.fill(attempt, at, at + tokens.length);
    message.token.set(tokens, at);
    message.logprob.set(logprobs, at);
    message.entropy.set(entropies, at);
    message.version.set(versions, at);
    message.oldestKv.set(oldestKv, at);
    at += tokens.length;
    if (tokens.length > 0) message.finish[at - 1] = finish;
  }
  return message;
}
