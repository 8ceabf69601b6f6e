import { TemplateFault } from "./values.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const DAY_MS = 86_400_000;

const two = (n: number, fill = "0") => String(n).padStart(2, fill);

function dayOfYear(t: Date): number {
  return Math.floor((t.getTime() - Date.UTC(t.getUTCFullYear(), 0, 1)) / DAY_MS) + 1;
}

/** Weeks since the first day of the year that is `first` (0: Sunday, 1: Monday). */
const week = (t: Date, first: 0 | 1) =>
  Math.floor((dayOfYear(t) + 6 - ((t.getUTCDay() + 7 - first) % 7)) / 7);

/** Fields of the C locale in UTC, so that the same time gives the same text everywhere. */
const FIELDS: Readonly<Record<string, (t: Date) => string>> = {
  "%": () => "%",
  a: (t) => DAYS[t.getUTCDay()]!.slice(0, 3),
  A: (t) => DAYS[t.getUTCDay()]!,
  w: (t) => String(t.getUTCDay()),
  u: (t) => String(t.getUTCDay() || 7),
  d: (t) => two(t.getUTCDate()),
  e: (t) => two(t.getUTCDate(), " "),
  b: (t) => MONTHS[t.getUTCMonth()]!.slice(0, 3),
  h: (t) => MONTHS[t.getUTCMonth()]!.slice(0, 3),
  B: (t) => MONTHS[t.getUTCMonth()]!,
  m: (t) => two(t.getUTCMonth() + 1),
  y: (t) => two(t.getUTCFullYear() % 100),
  Y: (t) => String(t.getUTCFullYear()),
  C: (t) => two(Math.floor(t.getUTCFullYear() / 100)),
  H: (t) => two(t.getUTCHours()),
  I: (t) => two(t.getUTCHours() % 12 || 12),
  p: (t) => (t.getUTCHours() < 12 ? "AM" : "PM"),
  M: (t) => two(t.getUTCMinutes()),
  S: (t) => two(t.getUTCSeconds()),
  f: (t) => `${String(t.getUTCMilliseconds()).padStart(3, "0")}000`,
  j: (t) => String(dayOfYear(t)).padStart(3, "0"),
  U: (t) => two(week(t, 0)),
  W: (t) => two(week(t, 1)),
  z: () => "",
  Z: () => "",
  n: () => "\n",
  t: () => "\t",
  s: (t) => String(Math.floor(t.getTime() / 1000)),
  F: (t) => strftime(t, "%Y-%m-%d"),
  T: (t) => strftime(t, "%H:%M:%S"),
  R: (t) => strftime(t, "%H:%M"),
  D: (t) => strftime(t, "%m/%d/%y"),
  c: (t) => strftime(t, "%a %b %e %H:%M:%S %Y"),
  x: (t) => strftime(t, "%m/%d/%y"),
  X: (t) => strftime(t, "%H:%M:%S"),
  r: (t) => strftime(t, "%I:%M:%S %p"),
};

/** A time in UTC laid out by C's strftime; "-" leaves out leading zeros, as in glibc. */
export function strftime(time: Date, format: string): string {
  return format.replace(/%(-?)(.)/gs, (all, bare: string, letter: string) => {
    const field = Object.hasOwn(FIELDS, letter) ? FIELDS[letter] : undefined;
    if (field === undefined) throw new TemplateFault(`strftime_now does not know ${all}`);
    return bare === "" ? field(time) : field(time).replace(/^[0 ]+(?=.)/, "");
  });
}
