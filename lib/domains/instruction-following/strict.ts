import { finalResponse } from "../final-response.ts";
import type { Rules } from "./judging.ts";

/** Constraints as training judges them: on what follows the thought, with the exploits of the checkers closed. */
export const STRICT: Rules = {
  responseOf: finalResponse,
  judgesBlank: () => false,
  bind: (kind, args) => kind.bind(args),
};
