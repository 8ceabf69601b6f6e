import { withoutEndTokens } from "./end-tokens.ts";

/**
 * The response of a completion after its thinking, without the tokens that end a turn: the text after the
 * last `</think>`, and inside that text the last `[BEGIN FINAL RESPONSE]` up to its `[END FINAL RESPONSE]`.
 * Without these marks, the whole text. A thought that was opened and never closed leaves an empty response:
 * its scratch work is no answer.
 */
export function finalResponse(completion: string): string {
  const text = withoutEndTokens(completion);
  const closed = text.lastIndexOf("</think>");
  if (text.lastIndexOf("<think>") > closed) return "";
  return between(closed < 0 ? text : text.slice(closed + "</think>".length)).trim();
}

function between(text: string): string {
  const begin = text.lastIndexOf("[BEGIN FINAL RESPONSE]");
  if (begin < 0) return text;
  const start = begin + "[BEGIN FINAL RESPONSE]".length;
  const end = text.indexOf("[END FINAL RESPONSE]", start);
  return end < 0 ? text.slice(start) : text.slice(start, end);
}
