import type { EngineMessage } from "./face.ts";

/** Allocates a zero-filled message for this many tokens and attempts that ended without a token. */
export function engineMessage(tokens: number, ended = 0): EngineMessage {
  return {
    request: new Float64Array(tokens),
    attempt: new Int32Array(tokens),
    token: new Int32Array(tokens),
    logprob: new Float32Array(tokens),
    entropy: new Float32Array(tokens),
    version: new Uint32Array(tokens),
    oldestKv: new Uint32Array(tokens),
    finish: new Uint8Array(tokens),
    endedRequest: new Float64Array(ended),
    endedAttempt: new Int32Array(ended),
    endedFinish: new Uint8Array(ended),
  };
}
