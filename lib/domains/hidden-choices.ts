/** Fields that list the choices in sets of multiple-choice questions. */
const FIELDS = ["choices", "options"] as const;

/**
 * Reason why a row's prompt would lack its choices: the row lists two texts or more, and its question does not
 * contain them all. Undefined for other rows.
 */
export function hiddenChoices(row: unknown, question: string): string | undefined {
  if (typeof row !== "object" || row === null) return undefined;
  for (const field of FIELDS) {
    const texts = textsOf((row as Record<string, unknown>)[field]);
    if (texts.length > 1 && !texts.every((text) => question.includes(text.trim())))
      return `${field}: multiple choice, and the question does not show what there is to choose from`;
  }
  return undefined;
}

/** The texts of choices in one of the forms ["a", "b"], { A: "a", B: "b" } and { text: ["a", "b"], label: ["A", "B"] }. */
function textsOf(choices: unknown): string[] {
  if (typeof choices !== "object" || choices === null) return [];
  const listed = "text" in choices ? choices.text : choices;
  const values = typeof listed === "object" && listed !== null ? Object.values(listed) : [];
  return values.every((value) => typeof value === "string") ? values : [];
}
