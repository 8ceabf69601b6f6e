/** Names of units and of counted things in \text{}, as tables with their qualifying words. */

/** A unit: its base unit, and its size in base units. A counted thing is its own base unit. */
export interface NamedUnit {
  readonly base: string;
  /** An exact fraction, or "degree" for pi/180. */
  readonly size: string;
}

const units = new Map<string, NamedUnit>();
const add = (base: string, size: string, names: string) => {
  for (const name of names.split(" ")) units.set(name, { base, size });
};
add("m", "1", "m meter meters metre metres");
add("m", "1/100", "cm centimeter centimeters centimetre centimetres");
add("m", "1/1000", "mm millimeter millimeters millimetre millimetres");
add("m", "1/10", "dm decimeter decimeters decimetre decimetres");
add("m", "1000", "km kilometer kilometers kilometre kilometres");
add("m", "1/1000000000", "nm nanometer nanometers");
add("m", "1/1000000", "μm micrometer micrometers");
add("m", "254/10000", "in inch inches");
add("m", "3048/10000", "ft foot feet");
add("m", "9144/10000", "yd yard yards");
add("m", "1609344/1000", "mi mile miles");
add("m^2", "10000", "ha hectare hectares");
add("acre", "1", "acre acres");
add("m^3", "1/1000", "L l liter liters litre litres");
add("m^3", "1/1000000", "ml mL cc milliliter milliliters millilitre millilitres");
add("gallon", "1", "gal gallon gallons");
add("g", "1", "g gram grams gramme grammes");
add("g", "1000", "kg kilogram kilograms kilo kilos");
add("g", "1/1000", "mg milligram milligrams");
add("g", "1000000", "tonne tonnes");
add("ton", "1", "ton tons");
add("lb", "1", "lb lbs pound pounds");
add("lb", "1/16", "oz ounce ounces");
add("s", "1", "s sec secs second seconds");
add("s", "60", "min mins minute minutes");
add("s", "3600", "h hr hrs hour hours");
add("s", "86400", "day days");
add("s", "604800", "week weeks");
add("month", "1", "month months");
add("month", "12", "yr yrs year years");
add("s", "1/1000", "ms millisecond milliseconds");
add("m/s", "1609344/3600000", "mph");
add("m/s", "1000/3600", "kmh kph kmph");
add("Hz", "1", "Hz hertz");
add("N", "1", "N newton newtons");
add("J", "1", "J joule joules");
add("J", "1000", "kJ");
add("W", "1", "W watt watts");
add("W", "1000", "kW");
add("V", "1", "V volt volts");
add("A", "1", "A amp amps ampere amperes");
add("ohm", "1", "ohm ohms Ω");
add("Pa", "1", "Pa pascal pascals");
add("mol", "1", "mol mole moles");
add("K", "1", "K kelvin kelvins");
add("celsius", "1", "°C celsius");
add("fahrenheit", "1", "°F fahrenheit");
add("rad", "1", "rad radian radians");
add("rad", "degree", "° deg degree degrees");
add("dollar", "1", "dollar dollars USD buck bucks");
add("dollar", "1/100", "cent cents ¢");
add("euro", "1", "euro euros EUR");
add("pound sterling", "1", "GBP £");
add("yen", "1", "yen JPY");
add("yuan", "1", "yuan RMB CNY");
add("rupee", "1", "rupee rupees Rs rs INR");
/** Words that name no specific unit: "5 units" may stand for 5 of anything. */
add("", "1", "unit units th st nd rd sq");

/** The unit of that name: abbreviations in their own case, words in any. */
export const namedUnit = (name: string): NamedUnit | undefined =>
  units.get(name) ?? (name.length > 2 ? units.get(name.toLowerCase()) : undefined);

export const SCALES: ReadonlyMap<string, string> = new Map([
  ["hundred", "100"],
  ["thousand", "1000"],
  ["million", "1000000"],
  ["billion", "1000000000"],
  ["trillion", "1000000000000"],
  ["dozen", "12"],
]);

/** Words after a number that change the meaning of the answer. */
const TELLING = new Set(
  (
    "is are was were be been am not no none never isn't wrong incorrect false true right correct or and nor but rather " +
    "maybe perhaps possibly probably else otherwise if when unless except without minus plus times over divided " +
    "multiplied mod modulo base more less fewer than least most about approximately around nearly almost roughly to " +
    "through between from until zero one two three four five six seven eight nine ten half halves third thirds quarter " +
    "quarters double twice triple squared cubed root factorial percent percentage actually instead wait sorry would " +
    "should could can cannot error undefined infinite all any every greater smaller negative opposite"
  ).split(" "),
);

/** True for one to six plain words that do not qualify the number: "distinct integer solutions". */
export function isPhrase(text: string): boolean {
  const words = text.trim().split(/[\s-]+/);
  const plain = words.every((word) => /^\(?[A-Za-z']+\.?\)?$/.test(word));
  return (
    plain && words.length <= 6 && !words.some((word) => TELLING.has(word.replace(/[().]/g, "").toLowerCase()))
  );
}

const CURRENCIES = new Map([
  ["€", "euros"],
  ["£", "GBP"],
  ["¥", "yen"],
  ["₹", "rupees"],
]);
/** Writes €5 as \text{euros}5. */
export const currencyWords = (text: string): string =>
  text.replace(/[€£¥₹]/g, (sign) => `\\text{${CURRENCIES.get(sign)}}`);

export const isCurrency = (name: string): boolean =>
  ["dollar", "euro", "pound sterling", "yen", "yuan", "rupee"].includes(namedUnit(name)?.base ?? "");

/** Words without \text{} after a number; a single letter may be a variable and stays. */
const BARE =
  /(?:(?<=[\d})]\s*)(?<![A-Za-z\\]\s?)|(?<=\\pi\s+))([A-Za-z]+(?:\s?\/\s?[A-Za-z]+|(?:\s+[A-Za-z]{2,})*))(?![A-Za-z\\{(])/g;
const SHORT_BARE = new Set("cm mm km kg mg ml mL dm ft yd lb hr kW".split(" "));

/** Sets the words of 12 cm, 60 km/h and 5 apples in \text{}; leaves products of letters unchanged. */
export function bareUnits(text: string): string {
  if (!/(?:[\d})]\s*|\\pi\s+)[A-Za-z](?:[A-Za-z]|\s?\/)/.test(text)) return text;
  return text.replace(BARE, (words: string, _, at: number, all: string) => {
    const spaced = /\s$/.test(all.slice(0, at));
    return isBareUnit(words, spaced) ? `\\text{${words}}` : words;
  });
}

function isBareUnit(words: string, spaced: boolean): boolean {
  if (words.includes("/")) return words.split("/").every((part) => namedUnit(part.trim())?.base);
  const [first = "", ...rest] = words.split(/\s+/);
  if (SHORT_BARE.has(first) && rest.length === 0) return true;
  if (first.length < 3) return false;
  if (namedUnit(first)?.base && rest.length === 0) return true;
  return spaced && /^[a-z]{4,}$/.test(first) && isPhrase(words);
}
