import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { packageRoot } from "../../../package-root.ts";
import { isUpper } from "../../../python/text.ts";
import { CounterRandom } from "../../../random.ts";

const MAX_GRAM = 3;
/** Most code points that the detector uses, and most UTF-16 units that it searches for them. */
const MAX_CHARS = 10_000;
const MAX_SOURCE_CHARS = 100_000;
const TRIALS = 7;
const MAX_DRAWS = 1000;
/** A trial ends when a language's posterior exceeds CERTAIN; languages below LEAST are not reported. */
const CERTAIN = 0.99999;
const LEAST = 0.1;
/** Additive smoothing, drawn once per trial: mean and standard deviation, in units of 1 / BASE_FREQUENCY. */
const SMOOTHING = 0.5;
const SMOOTHING_SPREAD = 0.05;
const BASE_FREQUENCY = 10_000;
/** Seed of the detector's random draws. It is fixed, so that a text gets the same language in every process. */
const SEED = 0;

const ADDRESS =
  /https?:\/\/[-_.?&~;+=/#0-9A-Za-z]{1,2076}|[-_.0-9A-Za-z]{1,64}@[-_0-9A-Za-z]{1,255}[-_.0-9A-Za-z]{1,255}/g;
const LOOSE_VIETNAMESE = /[AEIOUYaeiouyÂÊÔâêôĂăƠơƯư][\u0300\u0301\u0303\u0309\u0323]/g;

interface Profiles {
  /** Language codes, sorted: "af", "ar", ... "zh-tw". */
  readonly codes: readonly string[];
  /** Character n-gram (1 to 3 long) to its probability in each language, in the order of `codes`. */
  readonly frequencies: ReadonlyMap<string, Float64Array>;
  /** Maps a Han character to the representative of its class. */
  readonly han: ReadonlyMap<string, string>;
}

let loaded: Profiles | undefined;

/** A language profile of the langdetect package. */
interface Profile {
  readonly freq: Readonly<Record<string, number>>;
  /** N-grams counted, by length - 1. */
  readonly n_words: readonly number[];
}

interface Languages {
  /** Profiles by language code. */
  readonly profiles: Readonly<Record<string, Profile>>;
  /** Each entry has the Han characters of one class. */
  readonly han: Readonly<Record<string, string>>;
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, "utf8"));

/**
 * Reads the langdetect package's profiles. An installation has them in one file of dist/, which
 * scripts/bundle.mjs writes; that spares it 147 MB of Unicode tables on which langdetect depends and which
 * are not read here.
 */
function readLanguages(): Languages {
  const bundled = join(packageRoot(), "dist/langdetect/languages.json");
  if (existsSync(bundled)) return readJson(bundled) as Languages;
  const folder = dirname(createRequire(import.meta.url).resolve("langdetect/package.json"));
  const profiles = readdirSync(join(folder, "profiles"))
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => [name.slice(0, -".json".length), readJson(join(folder, "profiles", name))] as const);
  const han = readJson(join(folder, "res/cjk.json")) as Languages["han"];
  return { profiles: Object.fromEntries(profiles) as Languages["profiles"], han };
}

/** Reads the language profiles, once per process. */
export function loadLanguages(): Profiles {
  loaded ??= profilesOf(readLanguages());
  return loaded;
}

function profilesOf({ profiles, han }: Languages): Profiles {
  const codes = Object.keys(profiles);
  const frequencies = new Map<string, Float64Array>();
  for (const [language, code] of codes.entries()) {
    const profile = profiles[code]!;
    for (const [gram, count] of Object.entries(profile.freq)) {
      if (gram.length < 1 || gram.length > MAX_GRAM) continue;
      let row = frequencies.get(gram);
      if (row === undefined) {
        row = new Float64Array(codes.length);
        frequencies.set(gram, row);
      }
      row[language] = count / profile.n_words[gram.length - 1]!;
    }
  }
  const classes = Object.values(han).map((c) => [...c]);
  return {
    codes,
    frequencies,
    han: new Map(classes.flatMap((members) => members.map((char) => [char, members[0]!] as const))),
  };
}

/** The first characters of the text, without addresses, with single spaces, and without Latin letters in other scripts. */
function prepare(text: string): string[] {
  const cut = text
    .slice(0, MAX_SOURCE_CHARS)
    .replace(ADDRESS, " ")
    .replace(LOOSE_VIETNAMESE, (pair) => pair.normalize("NFC"));
  const chars = [...cut].slice(0, MAX_CHARS).filter((char, i, all) => char !== " " || all[i - 1] !== " ");
  const latin = chars.filter((char) => char >= "A" && char <= "z").length;
  const other = chars.filter((char) => char >= "\u0300" && (char < "\u1e00" || char > "\u1eff")).length;
  return latin * 2 < other ? chars.filter((char) => char < "A" || char > "z") : chars;
}

/** First and last character of a range, and the character that replaces the whole range; undefined replaces none. */
const CLASSES: readonly (readonly [first: string, last: string, standIn: string])[] = [
  ["\0", "@", " "],
  ["[", "`", " "],
  ["{", "\x7f", " "],
  ["\xa0", "\xa0", " "],
  ["\xab", "\xab", " "],
  ["\xb0", "\xb0", " "],
  ["\xbb", "\xbb", " "],
  ["\u0219", "\u0219", "\u015f"],
  ["\u021b", "\u021b", "\u0163"],
  ["\u06cc", "\u06cc", "\u064a"],
  ["\u1ea0", "\u1eff", "\u1ec3"],
  ["\u2000", "\u206f", " "],
  ["\u3040", "\u309f", "\u3042"],
  ["\u30a0", "\u30ff", "\u30a2"],
  ["\u3100", "\u312f", "\u3105"],
  ["\u31a0", "\u31bf", "\u3105"],
  ["\uac00", "\ud7af", "\uac00"],
];

function standIn(char: string, han: ReadonlyMap<string, string>): string {
  if ((char >= "a" && char <= "z") || (char >= "A" && char <= "Z")) return char;
  if (char >= "\u4e00" && char <= "\u9fff") return han.get(char) ?? char;
  return CLASSES.find(([first, last]) => char.length === 1 && char >= first && char <= last)?.[2] ?? char;
}

interface Letter {
  readonly char: string;
  readonly upper: boolean;
}

const SPACE: Letter = { char: " ", upper: false };

/** Every known n-gram of the text, one row of probabilities each; words in capitals contribute only their first letter. */
function grams(chars: readonly string[], { frequencies, han }: Profiles): Float64Array[] {
  const found: Float64Array[] = [];
  const add = (gram: string): void => {
    const row = frequencies.get(gram);
    if (row !== undefined) found.push(row);
  };
  const letters = new Map<string, Letter>();
  let before = "";
  let last = SPACE;
  let shouting = false;
  for (const raw of chars) {
    let letter = letters.get(raw);
    if (letter === undefined) {
      const char = standIn(raw, han);
      letter = { char, upper: isUpper(char) };
      letters.set(raw, letter);
    }
    if (last.char === " ") {
      before = "";
      shouting = false;
      if (letter.char === " ") continue;
    }
    shouting = letter.upper && (shouting || last.upper);
    if (!shouting) {
      if (letter.char !== " ") add(letter.char);
      add(last.char + letter.char);
      if (before !== "") add(before + last.char + letter.char);
    }
    before = last.char;
    last = letter;
  }
  return found;
}

/** Divides probabilities by their sum, in place; returns the largest. */
function normalize(posterior: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < posterior.length; i++) sum += posterior[i]!;
  let greatest = 0;
  for (let i = 0; i < posterior.length; i++) {
    const p = posterior[i]! / sum;
    posterior[i] = p;
    if (p > greatest) greatest = p;
  }
  return greatest;
}

/** One trial: n-grams drawn with replacement until one language is almost certain. */
function trial(rows: readonly Float64Array[], languages: number, random: CounterRandom): Float64Array {
  const posterior = new Float64Array(languages).fill(1 / languages);
  const gauss = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
  const floor = (SMOOTHING + SMOOTHING_SPREAD * gauss) / BASE_FREQUENCY;
  for (let draw = 0; ; draw++) {
    const row = random.choice(rows);
    for (let i = 0; i < languages; i++) posterior[i] = posterior[i]! * (floor + row[i]!);
    if (draw % 5 === 0 && (normalize(posterior) > CERTAIN || draw >= MAX_DRAWS)) return posterior;
  }
}

/**
 * Language of a text as one of 53 codes ("en", "zh-cn"); "unknown" if none is likely enough, undefined if the text
 * has no letters. A naive Bayes classifier over character n-grams, averaged over seven trials, each on n-grams drawn
 * at random; the draws use a fixed seed, so the same text gets the same answer everywhere.
 * Source: Nakatani, "Language Detection Library for Java" (2010), its profiles as in the npm package langdetect.
 */
export function detectLanguage(text: string): string | undefined {
  const profiles = loadLanguages();
  const rows = grams(prepare(text), profiles);
  if (rows.length === 0) return undefined;
  const mean = new Float64Array(profiles.codes.length);
  for (let t = 0; t < TRIALS; t++) {
    const posterior = trial(rows, mean.length, new CounterRandom(SEED, t));
    for (const [i, p] of posterior.entries()) mean[i] = mean[i]! + p / TRIALS;
  }
  const best = mean.indexOf(Math.max(...mean));
  return mean[best]! > LEAST ? profiles.codes[best]! : "unknown";
}

/** Texts with fewer letters than this are too short for `detectLanguage` to tell related languages apart. */
const SHORT_LETTERS = 16;
/**
 * Largest likelihood ratio at which another language remains possible for a short text, and for a single word
 * ("maybe", "no way").
 */
const SHORT_ODDS = 1e3;
const WORD_LETTERS = 7;
const WORD_ODDS = 10 ** 5.5;

/**
 * True if a text may be in a language: the detected one; for a text of a few letters ("Yes.", "Hola") also any
 * language in which all of its n-grams together are not much less likely than in the likeliest.
 * @param detected result of detectLanguage, if known
 */
export function mayBeIn(text: string, code: string, detected = detectLanguage(text)): boolean {
  if (detected === undefined || detected === code) return detected === code;
  const chars = prepare(text);
  const letters = chars.filter((char) => /\p{L}/u.test(char)).length;
  if (letters >= SHORT_LETTERS) return false;
  const profiles = loadLanguages();
  const asked = profiles.codes.indexOf(code);
  if (asked < 0) return false;
  const likelihoods = new Float64Array(profiles.codes.length);
  for (const row of grams(chars, profiles))
    for (const [i, p] of row.entries()) likelihoods[i]! += Math.log(SMOOTHING / BASE_FREQUENCY + p);
  return (
    Math.max(...likelihoods) - likelihoods[asked]! <=
    Math.log(letters < WORD_LETTERS ? WORD_ODDS : SHORT_ODDS)
  );
}
