import { describe, expect, test } from "vitest";
import {
  detectLanguage,
  loadLanguages,
  mayBeIn,
} from "../../../../lib/domains/instruction-following/text/language.ts";

test("53 languages are known, by sorted codes", () => {
  const { codes, frequencies } = loadLanguages();
  expect(codes).toHaveLength(53);
  expect(codes).toEqual([...codes].sort());
  expect([...frequencies.values()].every((row) => row.length === 53)).toBe(true);
  expect(loadLanguages()).toBe(loadLanguages());
});

describe("a text is recognised as", () => {
  test.each([
    ["en", "The quick brown fox jumps over the lazy dog near the river bank."],
    ["de", "Der schnelle braune Fuchs springt über den faulen Hund am Flussufer."],
    ["fr", "Le renard brun rapide saute par-dessus le chien paresseux."],
    ["es", "El rápido zorro marrón salta sobre el perro perezoso junto al río."],
    ["pt", "A rápida raposa marrom salta sobre o cão preguiçoso. Não é verdade?"],
    ["ru", "Быстрая коричневая лиса перепрыгивает через ленивую собаку."],
    ["uk", "Швидка коричнева лисиця стрибає через ледачого собаку, що спить."],
    ["bg", "Бързата кафява лисица прескача мързеливото куче край реката."],
    ["hi", "तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर से कूदती है।"],
    ["mr", "वेगवान तपकिरी कोल्हा आळशी कुत्र्यावरून उडी मारतो आहे."],
    ["ar", "الثعلب البني السريع يقفز فوق الكلب الكسول."],
    ["fa", "روباه قهوه‌ای سریع از روی سگ تنبل می‌پرد."],
    ["ja", "素早い茶色の狐がのろまな犬を飛び越える。"],
    ["ko", "빠른 갈색 여우가 게으른 개를 뛰어넘는다."],
    ["zh-cn", "敏捷的棕色狐狸跳过了懒狗，这是一个测试句子。"],
    ["th", "สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ"],
    ["vi", "Con cáo nâu nhanh nhẹn nhảy qua con chó lười biếng."],
    ["sw", "Mbweha mwepesi wa kahawia anaruka juu ya mbwa mvivu."],
    ["en", "THIS IS WRITTEN IN CAPITAL LETTERS BUT IT IS STILL ENGLISH AND NOTHING ELSE"],
    ["ru", "Это текст с English words внутри, но он всё равно русский текст."],
  ])("%s: %s", (code, text) => {
    expect(detectLanguage(text)).toBe(code);
  });
});

test.each(["", "  ", "12345 67", "!?", "https://example.com/a", "me@example.com"])(
  "%j has no language",
  (text) => {
    expect(detectLanguage(text)).toBeUndefined();
  },
);

test("decomposed Vietnamese is Vietnamese", () => {
  expect(detectLanguage("Con cáo nâu nhanh nhẹn nhảy qua con chó lười biếng.".normalize("NFD"))).toBe("vi");
});

test("the same text has the same language every time, however short", () => {
  for (const text of ["no punctuation at all", "ok", "a b", "hola", "ja"]) {
    const first = detectLanguage(text);
    for (let i = 0; i < 20; i++) expect(detectLanguage(text)).toBe(first);
  }
});

test("a megabyte is read no further than it says", () => {
  const start = performance.now();
  for (const unit of ["a", "語", "a@", "http://", " ", "x.", "é\u0301"])
    detectLanguage(unit.repeat(1e6 / unit.length));
  expect(performance.now() - start).toBeLessThan(15_000);
});

describe("a few words may be in", () => {
  test.each([
    ["en", ["Yes.", "OK", "No", "Hello!", "Thank you.", "Paris", "It is blue.", "GOOD MORNING"]],
    // With seven letters Spanish is likelier than English, but not by a factor of a thousand.
    ["en", ["S\u00ed, claro"]],
    ["en", ["yes", "ok", "maybe", "dog", "Dog.", "good", "today", "no way"]],
    ["es", ["S\u00ed, claro", "Hola", "S\u00ed.", "Buenos d\u00edas", "Gracias"]],
    ["fr", ["Bonjour", "Oui.", "Merci"]],
    ["de", ["Ja.", "Nein", "Guten Tag", "Danke"]],
    ["it", ["Ciao", "Grazie"]],
    ["nl", ["Dank je wel"]],
    ["ru", ["Да.", "Привет"]],
    ["hi", ["हाँ", "नमस्ते"]],
    ["fa", ["سلام"]],
  ])("%s: %j", (code, texts) => {
    expect(texts.filter((text) => !mayBeIn(text, code))).toEqual([]);
  });

  test.each([
    ["en", ["Buenos d\u00edas", "Danke sch\u00f6n", "Привет", "你好", "7", ""]],
    ["de", ["The answer", "Thank you.", "Merci beaucoup", "Обед"]],
    ["ru", ["Yes.", "Hola", "Γεια"]],
    ["en", ["S\u00ed, claro que s\u00ed"]],
    ["fr", ["S\u00ed, claro"]],
    ["xx", ["Yes."]],
    ["es", ["The quick brown fox jumps over the lazy dog."]],
  ])("not %s: %j", (code, texts) => {
    expect(texts.filter((text) => mayBeIn(text, code))).toEqual([]);
  });
});
