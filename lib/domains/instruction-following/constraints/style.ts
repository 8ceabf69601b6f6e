import { z } from "zod";
import { isLower, isUpper, trim, trimChars } from "../../../python/text.ts";
import { amount, compare, noArguments, phrase, relation } from "../arguments.ts";
import { type Check, type ConstraintTable, constraint } from "../constraint.ts";
import { mayBeIn } from "../text/language.ts";
import type { ResponseText } from "../text/response-text.ts";

/** True if a response is in the language with that code. */
type IsIn = (response: ResponseText, code: string) => boolean;

/**
 * A text without letters is in no language; a very short one, for which the detector only guesses, is in any language
 * that it fits. The detector ignores all-capital words and mistakes Spanish capitals for English, so such a text is
 * lower-cased.
 */
const isIn: IsIn = (response, code) => {
  const text = isUpper(response.raw) ? response.inLowerCase : response;
  return mayBeIn(text.raw, code, text.language);
};

/** The published checkers accept a text without letters in any language. */
const isDetectedIn: IsIn = ({ language }, code) => language === undefined || language === code;

const english = (isCase: (text: string) => boolean, isWritten: IsIn) => (): Check => (response) =>
  isCase(response.raw) && isWritten(response, "en");

const written =
  (isWritten: IsIn) =>
  ({ language }: { language: string }): Check =>
  (response) =>
    isWritten(response, language);

/** @param others look-alikes or wider variants of the mark, which the published checkers do not know */
const lacks = (char: string, others: string) =>
  constraint(
    noArguments,
    () =>
      ({ raw }) =>
        ![char, ...others].some((mark) => raw.includes(mark)),
    () =>
      ({ raw }) =>
        !raw.includes(char),
  );

export const STYLE: ConstraintTable = {
  "language:response_language": constraint(
    z.object({ language: phrase }),
    written(isIn),
    written(isDetectedIn),
  ),

  "change_case:english_capital": constraint(
    noArguments,
    english(isUpper, isIn),
    english(isUpper, isDetectedIn),
  ),

  "change_case:english_lowercase": constraint(
    noArguments,
    english(isLower, isIn),
    english(isLower, isDetectedIn),
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

  "punctuation:no_comma": lacks(",", "\uff0c\u201a\ufe50\ufe10"),
  "punctuation:punctuation_dot": lacks(".", "\uff0e\u2024\ufe52"),
  "punctuation:punctuation_exclamation": lacks("!", "\uff01\ufe57\u203c\u2049\ufe15"),
};
