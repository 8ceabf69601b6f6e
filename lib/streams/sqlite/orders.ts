import type { ErrorCode } from "../../errors.ts";
import type { Arguments, Fence, OperationName } from "../driver.ts";
import type { Refusal } from "../stream-error.ts";
import type { Synchronous } from "./database.ts";

/** What the thread is started with. */
export interface WorkerData {
  readonly path: string;
  readonly run: string;
  readonly mustExist: boolean;
  readonly synchronous: Synchronous;
}

export interface Order<K extends OperationName = OperationName> {
  readonly id: number;
  readonly name: K;
  readonly args: Arguments<K>;
  readonly fence?: Fence | undefined;
}

/** What was ordered in one turn of the event loop. */
export type Request = readonly Order[] | "close";

/** Of the answer to the opening. */
export const OPENING = 0;

/** To the order of that id, or to the opening. */
export interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly refusal?: Refusal;
  readonly error?: { readonly code: ErrorCode; readonly message: string; readonly hint: string | undefined };
}
