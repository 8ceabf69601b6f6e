import { type ErrorCode, HoneError } from "../errors.ts";

/**
 * Errors of the addon carry a code and no useful JavaScript stack; converts them to typed errors. Returns our own
 * errors unchanged.
 */
export function fromNative(cause: unknown): Error {
  if (cause instanceof HoneError) return cause;
  if (!(cause instanceof Error)) return new HoneError("HONE_ERR_INTERNAL", String(cause));
  const code = (cause as { code?: unknown }).code;
  if (typeof code !== "string" || !code.startsWith("HONE_ERR_")) return cause;
  return new HoneError(code as ErrorCode, cause.message, { cause });
}

/** Runs a synchronous native call and rethrows its error as a typed HoneError. */
export function translated<T>(call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw fromNative(cause);
  }
}

/**
 * Awaits a native call. An error created on another thread has no JavaScript stack, so it is rethrown from the call
 * site, with the native one as its cause.
 */
export async function awaited<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw fromNative(cause);
  }
}
