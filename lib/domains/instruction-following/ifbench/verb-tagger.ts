import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { HoneError } from "../../../errors.ts";
import { isDigits } from "./digits.ts";

/** A trained averaged perceptron: feature to label to weight, words that have one label only, all labels. */
export interface TaggerModel {
  readonly weights: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly tagdict: Readonly<Record<string, string>>;
  readonly classes: readonly string[];
}

const NAME = "averaged_perceptron_tagger_eng";
const START = "-START-";
const START2 = "-START2-";

const suffix = (word: string): string => [...word].slice(-3).join("");

/** The class of a word in the tagger's features. */
function normalize(word: string): string {
  if (word.includes("-") && !word.startsWith("-")) return "!HYPHEN";
  if (isDigits(word) && [...word].length === 4) return "!YEAR";
  return isDigits([...word][0] ?? "") ? "!DIGITS" : word.toLowerCase();
}

/** Features of the first token: no word precedes it, and the next two tokens matter. */
function features(tokens: readonly string[]): string[] {
  const word = tokens[0]!;
  const [now, next, afterNext] = [...tokens.slice(0, 3).map(normalize), "-END-", "-END2-"];
  return [
    "bias",
    `i suffix ${suffix(word)}`,
    `i pref1 ${[...word][0] ?? ""}`,
    `i-1 tag ${START}`,
    `i-2 tag ${START2}`,
    `i tag+i-2 tag ${START} ${START2}`,
    `i word ${now}`,
    `i-1 tag+i word ${START} ${now}`,
    `i-1 word ${START2}`,
    `i-1 suffix ${suffix(START2)}`,
    `i-2 word ${START}`,
    `i+1 word ${next}`,
    `i+1 suffix ${suffix(next!)}`,
    `i+2 word ${afterNext}`,
  ];
}

/** Part of speech of the first token: the label with the largest weight; of equal ones, the last by name. */
export function firstTag(model: TaggerModel, tokens: readonly string[]): string {
  const word = tokens[0]!;
  if (Object.hasOwn(model.tagdict, word)) return model.tagdict[word]!;
  const scores = new Map<string, number>(model.classes.map((label) => [label, 0]));
  for (const feature of features(tokens)) {
    if (!Object.hasOwn(model.weights, feature)) continue;
    for (const [label, weight] of Object.entries(model.weights[feature]!)) {
      scores.set(label, (scores.get(label) ?? 0) + weight);
    }
  }
  const better = (a: string, b: string) =>
    scores.get(a)! > scores.get(b)! || (scores.get(a) === scores.get(b) && a > b);
  return model.classes.reduce((best, label) => (better(label, best) ? label : best));
}

/** NLTK's data folders: $NLTK_DATA, then the home directory, then the system's. */
function dataFolders(env: NodeJS.ProcessEnv): string[] {
  const named = (env["NLTK_DATA"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const system = ["/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib"];
  return [...named, ...[homedir(), ...system].map((folder) => join(folder, "nltk_data"))];
}

/** The model in one data folder, or undefined if the folder lacks it. */
function readModel(folder: string): TaggerModel | undefined {
  const read = (part: string) =>
    JSON.parse(readFileSync(join(folder, "taggers", NAME, `${NAME}.${part}.json`), "utf8"));
  try {
    return { weights: read("weights"), tagdict: read("tagdict"), classes: read("classes") };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new HoneError("HONE_ERR_DATA", `the part-of-speech model under ${folder} cannot be read`, {
      cause: error,
    });
  }
}

let loaded: { readonly folders: string; readonly model: TaggerModel } | undefined;

/**
 * True if a text, given as its tokens, starts with a verb. The model is NLTK's, 6 MB of trained weights that this
 * package does not contain: it is read from NLTK's data folders, once.
 * Throws HONE_ERR_DATA if no folder has it.
 * Source: Averaged perceptron tagger, Honnibal 2013; NLTK data package averaged_perceptron_tagger_eng.
 */
export function loadVerbTagger(env: NodeJS.ProcessEnv = process.env): (tokens: readonly string[]) => boolean {
  const folders = dataFolders(env);
  if (loaded?.folders !== folders.join()) {
    const model = folders.map(readModel).find((found) => found !== undefined);
    if (model === undefined) {
      throw new HoneError(
        "HONE_ERR_DATA",
        `words:start_verb needs NLTK's ${NAME}, which no data folder has`,
        {
          hint: `python -m nltk.downloader ${NAME}, or point NLTK_DATA to the folder that has taggers/${NAME}`,
          details: { folders },
        },
      );
    }
    loaded = { folders: folders.join(), model };
  }
  const { model } = loaded!;
  return (tokens) => tokens.length > 0 && firstTag(model, tokens).includes("VB");
}
