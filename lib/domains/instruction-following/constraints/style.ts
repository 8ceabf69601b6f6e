import { z } from "zod";
import { isLower, isUpper, trim, trimChars } from "../../../python/text.ts";
import type { Compat } from "../../verify-case.ts";
import { amount, compare, noArguments, phrase, relation } from "../arguments.ts";
import { type ConstraintTable, constraint } from "../constraint.ts";
import { mayBeIn } from "../text/language.ts";
import type { ResponseText } from "../text/response-text.ts";

/**
 * The published checkers take a text without letters to be in any language; strict takes it to be in none, and a few
 * words, which the detector guesses at, to be in any they may be in.
 */
const isIn = ({ language, raw }: ResponseText, code: string, compat: Compat): boolean =>
  compat === "strict" ? mayBeIn(raw, code, language) : language === undefined || language === code;

const lacks = (char: string) =>
  constraint(
    noArguments,
    () =>
      ({ raw }) =>
        !raw.includes(char),
  );

export const STYLE: ConstraintTable = {
  "language:response_language": constraint(
    z.object({ language: phrase }),
    ({ language }, compat) =>
      (response) =>
        isIn(response, language, compat),
  ),

  "change_case:english_capital": constraint(
    noArguments,
    (_, compat) => (response) => isUpper(response.raw) && isIn(response, "en", compat),
  ),

  "change_case:english_lowercase": constraint(
    noArguments,
    (_, compat) => (response) => isLower(response.raw) && isIn(response, "en", compat),
  ),

  "change_case:capital_word_frequency": constraint(
    z.object({ capital_frequency: amount, capital_relation: relation }),
    ({ capital_frequency: bound, capital_relation: how }) =>
      ({ tokens }) =>
        compare(tokens.filter(isUpper).length, how, bound),
  ),

  "startend:end_checker": constraint(z.object({ end_phrase: phrase }), ({ end_phrase }) => {
    const wanted = trim(end_phrase).toLowerCase();
    return ({ raw }) => trimChars(trim(raw), '"').toLowerCase().endsWith(wanted);
  }),

  "startend:quotation": constraint(noArguments, () => ({ raw }) => {
    const text = trim(raw);
    return text.length > 1 && text.startsWith('"') && text.endsWith('"');
  }),

  "punctuation:no_comma": lacks(","),
  "punctuation:punctuation_dot": lacks("."),
  "punctuation:punctuation_exclamation": lacks("!"),
};
