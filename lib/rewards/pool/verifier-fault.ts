import { HoneError } from "../../errors.ts";

/** Limit of a cause, because causes are stored with every completion of a run and printed. */
const MAX_CHARS = 500;
const MAX_CAUSES = 3;

/**
 * Describes a verifier's error to its author: its message, those of its causes ("fetch failed" says little, "connect
 * ECONNREFUSED 127.0.0.1:80" does), and its location in the author's file.
 * @param file URL of the user's module; without one (a built-in verifier), no location
 */
export function faultOf(error: unknown, file?: string): string {
  const messages: string[] = [];
  let place: string | undefined;
  let at = error;
  for (let depth = 0; depth < MAX_CAUSES && at !== undefined && at !== null; depth++, at = causeOf(at)) {
    const message = messageOf(at);
    if (message !== "" && !messages.some((said) => said.includes(message))) messages.push(message);
    if (file !== undefined) place ??= firstFrame(at, file);
  }
  return `${messages.join(": ").slice(0, MAX_CHARS)}${place === undefined ? "" : ` (${place})`}`;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return describe(error);
  const { message } = error;
  if (error instanceof AggregateError && message === "") return error.errors.map(messageOf).join(", ");
  const text = typeof message === "string" ? message.slice(0, MAX_CHARS) : describe(message);
  // Adds the error's type ("TypeError: x is not a function"), except for a bare Error and our own errors, where it adds
  // nothing.
  return error.name === "Error" || HoneError.is(error) || typeof error.name !== "string"
    ? text
    : `${error.name}: ${text}`;
}

function describe(thrown: unknown): string {
  try {
    return String(thrown).slice(0, MAX_CHARS);
  } catch {
    return `a thrown ${typeof thrown}`;
  }
}

const causeOf = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);

/** "verify, /srv/me/mine.ts:12:9": the first frame in the user's own files, or the location of a syntax error. */
function firstFrame(error: unknown, file: string): string | undefined {
  const stack = error instanceof Error && typeof error.stack === "string" ? error.stack.slice(-20_000) : "";
  const folder = file.slice(0, file.lastIndexOf("/") + 1);
  const frames = [
    ...stack.matchAll(/^ +at (?:async )?(?:(.*?) \()?((?:file:\/\/)?\/[^()\n]*:\d+:\d+)\)?$/gm),
  ];
  const theirs = frames.find(
    ([, , place]) => asUrl(place!).startsWith(folder) && !place!.includes("/node_modules/"),
  );
  if (theirs === undefined) return undefined;
  const name = theirs[1]?.replace(/^(?:Object|Module|Function)\./, "");
  const place = asUrl(theirs[2]!).slice("file://".length);
  return name ? `${name}, ${place}` : place;
}

const asUrl = (place: string): string => (place.startsWith("/") ? `file://${place}` : place);
