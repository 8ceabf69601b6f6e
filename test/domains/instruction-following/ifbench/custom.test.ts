// Deliberate faults (mutants) that these tests detect: 50 counts as a multiple; questions of equal length; four
// options; 51 countries; the order of countries is ignored; a capital out of place; seven rows with the header; 31
// April; 1822; the reversed words are not reversed.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CUSTOM } from "../../../../lib/domains/instruction-following/ifbench/custom.ts";
import { holds, verdict } from "./hand-made.ts";

const OPTIONS = ["A. one", "B) two", "C. three", "D. four", "E. five"].join("\n");
const question = (k: number, text: string) => `Question ${k}. ${text}\n${OPTIONS}`;
const QUIZ = [
  question(1, "Who?"),
  question(2, "Who is?"),
  question(3, "Who is he?"),
  question(4, "Who is he now?"),
];

/** African countries in reverse alphabetical order. */
const AFRICA = (
  "Zimbabwe,Zambia,Uganda,Tunisia,Togo,Tanzania,São Tomé and Príncipe,Sudan,South Sudan,South Africa,Somalia," +
  "Sierra Leone,Seychelles,Senegal,Rwanda,Nigeria,Niger,Namibia,Mozambique,Morocco,Mauritius,Mauritania,Mali,Malawi," +
  "Madagascar,Libya,Liberia,Lesotho,Kenya,Ivory Coast,Guinea-Bissau,Guinea,Ghana,Gambia,Gabon,Ethiopia,Eswatini," +
  "Eritrea,Equatorial Guinea,Egypt,Djibouti,DR Congo,Congo,Comoros,Chad,Central African Republic,Cape Verde,Cameroon," +
  "Burundi,Burkina Faso,Botswana,Benin,Angola,Algeria"
)
  .split(",")
  .sort((a, b) => (a.normalize("NFKD") < b.normalize("NFKD") ? 1 : -1));

const CAPITALS =
  "Reykjavik, Helsinki, Oslo, Tallinn, Stockholm, Riga, Moscow, Copenhagen, Vilnius, Minsk, Dublin, Berlin, " +
  "Amsterdam, Warsaw, London, Brussels, Prague, Luxembourg, Paris, Vienna, Bratislava, Budapest, Vaduz, Chisinau, " +
  "Bern, Ljubljana, Zagreb";

const STORY = Array.from({ length: 26 }, (_, k) => `${String.fromCharCode(65 + k)}da went home today.`).join(
  " ",
);

const CITIES = ["ID,Country,City,Year,Count", ...Array(7).fill("1,France,Paris,2000,5")];
const PRODUCT = "1,Toys,Acme,2.50,5";
const PRODUCTS = [
  "ProductID,Category,Brand,Price,Stock",
  ...Array(13).fill(PRODUCT),
  '2,"Toys & Co",Acme,2.50,5',
];
const quoted = (...fields: string[]) => fields.map((field) => `"${field}"`).join("\t");
const STUDENTS = [
  quoted("StudentID", "Subject", "Grade", "Semester", "Score"),
  ...Array(3).fill(quoted(..."abcde")),
];

holds(CUSTOM, "reference", {
  "custom:multiples": [
    [true, "14, 21, 28, 35, 42, 49"],
    [true, "14,21,28,35,42,49"],
    [true, "14\n21\n28\n35\n42\n49."],
    [false, "7, 14, 21, 28, 35, 42, 49"],
    [false, "14, 21, 28, 35, 42"],
    [false, "1. 14\n2. 21\n3. 28\n4. 35\n5. 42\n6. 49"],
    [false, "14 21 28 35 42 49 ٣"],
    [true, "14 21 28 35 42 49²"], // a superscript is not a decimal digit
    [false, "none"],
  ],
  "custom:mcq_count_length": [
    [true, QUIZ.join("\n\n")],
    [false, QUIZ.slice(0, 3).join("\n\n")],
    [false, `Here they are:\n${QUIZ.join("\n")}`],
    [false, [QUIZ[1], QUIZ[0], QUIZ[2], QUIZ[3]].join("\n")],
    [false, QUIZ.join("\n").replace("E. five\n", "")],
    [false, QUIZ.join("\n").replace("Who is?", "Why?")], // two questions of equal length
    [true, QUIZ.join("\n").replaceAll(". Who", ":\nWho")],
    [false, QUIZ.join("\n").replaceAll("Question", "question")],
    [false, QUIZ.join("\n").replaceAll("E. five", "E five")],
  ],
  "custom:reverse_newline": [
    [true, AFRICA.join("\n")],
    [true, `Countries:\n- ${AFRICA.join("\n\n- ")}`],
    [true, AFRICA.toSpliced(5, 2).join("\n")], // 52 of 54 countries
    [false, AFRICA.toSpliced(5, 3).join("\n")],
    [false, AFRICA.toSpliced(1, 1).toSpliced(9, 0, AFRICA[1]!).join("\n")],
    [false, AFRICA.slice(1).join("\n")],
    [false, AFRICA.toReversed().join("\n")],
    [false, `${AFRICA.join("\n")}\nThat is all.`],
    [false, AFRICA.join(", ")],
  ],
  "custom:word_reverse": [
    [true, "eagle bald the is It"],
    [false, "It is the bald eagle"],
    [true, "EAGLE, BALD!"],
    [false, "eagle the bald"],
    [true, "eagle\nbald"],
    [true, "eagles, bald"], // "bald eagles" contains it too
    [false, "eagle balding"],
  ],
  "custom:character_reverse": [
    [true, ".elgae dlab eht si tI"],
    [true, "ELGAE DLAB"],
    [false, "bald eagle"],
    [false, "elgae  dlab"],
    [true, "xelgae dlabx"],
    [false, "elgae\ndlab"],
  ],
  "custom:sentence_alphabet": [
    [true, STORY],
    [false, STORY.replace(" Zda went home today.", "")],
    [false, `${STORY} Ada left.`],
    [false, STORY.replace("Cda", "Dda")],
    [true, STORY.toLowerCase().replaceAll(". ", "! ")],
    [false, STORY.replace("Cda", '"Cda')],
  ],
  "custom:european_capitals_sort": [
    [true, CAPITALS],
    [true, `${CAPITALS.replaceAll(", ", ",\n")},`],
    [true, CAPITALS.replace("Chisinau", "Chișinău").replace("Reykjavik", "Reykjavík")],
    [false, CAPITALS.replace("Helsinki, Oslo", "Oslo, Helsinki")],
    [false, CAPITALS.replace("Vaduz, ", "")],
    [false, `${CAPITALS}.`],
    [false, CAPITALS.toLowerCase()],
  ],
  "custom:csv_city": [
    [true, CITIES.join("\n")],
    [true, `${CITIES.join("\r\n")}\r\n`],
    [false, CITIES.slice(1).join("\n")],
    [false, CITIES.toSpliced(1, 1).join("\n")],
    [false, `${CITIES.join("\n")}\n\n`], // a blank line counts as a row
    [true, CITIES.join("\n").replaceAll("Paris", '"Paris, Texas"')],
    [false, CITIES.join("\n").replace("Paris", "Paris, Texas")],
    [false, CITIES.join("\n").replace("ID,Country", "ID, Country")],
    [false, CITIES.join("\n").replace("Paris", "Pa\rris")], // the text must not be parsed as CSV
  ],
  "custom:csv_special_character": [
    [true, PRODUCTS.join("\n")],
    [true, PRODUCTS.join("\n").replace("ProductID,Category", '"ProductID", \t"Category"')],
    [false, PRODUCTS.join("\n").replace('"Toys & Co"', "Toys & Co")],
    [false, PRODUCTS.join("\n").replace("Toys & Co", "Toys and Co")],
    [false, PRODUCTS.toSpliced(1, 1).join("\n")],
    [false, PRODUCTS.join("\n").replace("2.50", "2,50")],
    [true, [PRODUCTS[0], PRODUCTS[14], ...Array(13).fill("1,2")].join("\n")], // later rows are not checked
    [false, PRODUCTS.join("\n").replace("Stock", "Store")],
    [true, PRODUCTS.join("\n").replace("Toys & Co", "a\u00b7b")],
  ],
  "custom:csv_quotes": [
    [true, STUDENTS.join("\n")],
    [false, STUDENTS.join("\n").replace('"a"', "a")],
    [false, STUDENTS.slice(0, 3).join("\n")],
    [false, STUDENTS.join("\n").replaceAll("\t", ",")],
    [true, STUDENTS.join("\n").replace('\t"Subject"', '\t "Subject"')],
    [false, STUDENTS.join("\n").replaceAll('"a"', "")], // an empty field has no quotes
    [false, STUDENTS.join("\n").replace('"StudentID"', "StudentID")],
    [true, STUDENTS.join("\n").replaceAll('"a"', '""')],
  ],
  "custom:date_format_list": [
    [true, "1796-04-12, 1805-12-02"],
    [true, " 1815-06-18\n"],
    [false, "1796-4-12"],
    [false, "1796-04-12, and 1805-12-02"],
    [false, "1768-12-31"],
    [false, "1822-01-01"],
    [false, "1800-13-01"],
    [false, "1800-04-31"],
    [true, "1801-02-29, 1800-00-45, 1800-05-00"], // days of a month are not checked exactly
    [false, "1800-02-30"],
    [false, "1796-04-12,"],
    [true, "١٨٠٠-٠١-٠٢"], // digits of any script
  ],
});

holds(CUSTOM, "strict", {
  "custom:csv_special_character": [
    [false, [PRODUCTS[0], PRODUCTS[14], ...Array(13).fill("1,2")].join("\n")],
    [true, PRODUCTS.join("\n")],
  ],
  "custom:date_format_list": [
    [false, "1801-02-29"],
    [true, "1804-02-29"],
    [false, "1800-00-15"],
    [false, "1800-05-00"],
    [true, "1796-04-12, 1805-12-02"],
  ],
});

describe("dates", () => {
  test("of Napoleon's lifetime are those of the calendar, strictly", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1760, max: 1830 }), fc.nat(14), fc.nat(33), (year, month, day) => {
        const two = (n: number) => String(n).padStart(2, "0");
        const real = new Date(Date.UTC(year, month - 1, day)).toISOString().slice(0, 10);
        const text = `${year}-${two(month)}-${two(day)}`;
        const expected = real === text && year >= 1769 && year <= 1821;
        expect(verdict(CUSTOM, "custom:date_format_list", "strict", [true, text])).toBe(expected);
      }),
    );
  });
});

test("any two capitals that change places are out of order", () => {
  fc.assert(
    fc.property(fc.nat(26), fc.nat(26), (a, b) => {
      const names = CAPITALS.split(", ");
      [names[a], names[b]] = [names[b]!, names[a]!];
      expect(verdict(CUSTOM, "custom:european_capitals_sort", "reference", [true, names.join(",")])).toBe(
        a === b,
      );
    }),
  );
});
