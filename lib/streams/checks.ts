import { HoneError } from "../errors.ts";

const NAME = /^[A-Za-z0-9._/-]{1,200}$/;
const LONGEST_KEY = 512;
const LONGEST_MS = 2 ** 40;

function refuse(what: string, value: unknown, wanted: string): never {
  const text = typeof value === "string" ? JSON.stringify(value) : String(value);
  throw new HoneError("HONE_ERR_USAGE", `${what} is ${text}, expected ${wanted}`);
}

/**
 * Checks the name of a stream, a group, a run or a pin. Throws HONE_ERR_USAGE, as all checks of this file.
 */
export function checkName(what: string, name: string): void {
  if (!NAME.test(name)) refuse(what, name, "1 to 200 of A-Z a-z 0-9 . _ / -");
}

export function checkKey(what: string, key: string): void {
  const isText = typeof key === "string" && key.length > 0 && key.length <= LONGEST_KEY;
  if (!isText || /[\p{Surrogate}\0]/u.test(key))
    refuse(what, key, `1 to ${LONGEST_KEY} characters, without lone surrogates and NUL`);
}

export function checkText(what: string, text: string): void {
  if (typeof text !== "string" || /[\p{Surrogate}\0]/u.test(text))
    refuse(what, text, "text without half surrogate pairs and NUL");
}

export function checkCount(what: string, value: number, least = 0): void {
  if (!Number.isSafeInteger(value) || value < least) refuse(what, value, `an integer >= ${least}`);
}

/** Checks a time in milliseconds; it must be finite, since a store cannot keep Infinity. */
export function checkMs(what: string, ms: number): void {
  if (!(ms >= 0 && ms <= LONGEST_MS)) refuse(what, ms, "milliseconds from 0 to 2^40");
}

/** The stream of dead letters of `stream`; its keys are "group/offset/key". */
export const deadLettersOf = (stream: string): string => `${stream}/dead`;
