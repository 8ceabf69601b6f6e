import { type ErrorCode, HoneError } from "../../errors.ts";
import type { Arguments, Fence, OperationName } from "../driver.ts";
import { type Refusal, StreamError } from "../stream-error.ts";

/** Version of the protocol; increment it when messages change. */
export const PROTOCOL = 1;

/** Ids of messages that are not operations; operations count from 1. */
export const OPENING = 0;
export const NEWS = -1;

/** Messages of a client. The first opens the store; NEWS asks for the next notification of a topic. */
export type Asked =
  | readonly [id: typeof OPENING, protocol: number, run: string]
  | readonly [id: typeof NEWS, topic: string]
  | readonly [id: number, name: OperationName, args: Arguments<OperationName>, fence?: Fence];

/** Messages of a server: for NEWS a topic, else the result of the operation, or the reason of a failure. */
export type Answer = readonly [id: number, result: unknown, failure?: Failure];

/** An error; its class is not sent. */
interface Failure {
  readonly refusal?: Refusal;
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string | undefined;
}

export function failureOf(error: unknown): Failure {
  const { code = "HONE_ERR_INTERNAL", message, hint } = error as Partial<HoneError> & Error;
  const refusal = error instanceof StreamError ? (error.details as unknown as Refusal) : undefined;
  return { code, message, hint, ...(refusal !== undefined && { refusal }) };
}

export function errorOf({ refusal, code, message, hint }: Failure): HoneError {
  if (refusal !== undefined) return new StreamError(refusal);
  return new HoneError(code, message, hint === undefined ? {} : { hint });
}
