import { type ErrorCode, HoneError } from "../errors.ts";

/** An error as it crosses from one process to another. */
export interface FaultText {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
}

export function faultText(error: unknown): FaultText {
  if (!HoneError.is(error))
    return { code: "HONE_ERR_INTERNAL", message: String((error as Error)?.message ?? error) };
  const { code, message, hint } = error;
  return { code, message, ...(hint !== undefined && { hint }) };
}

/** The same error here. @param where whose it was: "actor.1#2". */
export function faultOf({ code, message, hint }: FaultText, where: string): HoneError {
  return new HoneError(code, `${where}: ${message}`, {
    details: { where },
    ...(hint !== undefined && { hint }),
  });
}

/** True for faults of the connection, not of the data: with other members the transfer may succeed. */
export const isOfTheWay = (code: ErrorCode): boolean =>
  code === "HONE_ERR_COLLECTIVE" || code === "HONE_ERR_ABORTED";
