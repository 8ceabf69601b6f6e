import type { Problem } from "../../lib/records.ts";

/** A row that asks for a sum. */
export const twoPlusTwo: Problem = {
  id: 7,
  domain: "math",
  family: "rows",
  level: 0,
  question: "2 + 2?",
  verifier: "math",
  reference: { answer: "4" },
};
