import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AnswerCache, requestKey } from "../../lib/traces/answer-cache.ts";
import { freshDir } from "./small-evaluation.ts";

test("an answer is there in the next process; a torn line and lines of others are passed over", () => {
  const path = join(freshDir(), "answers.jsonl");
  {
    using cache = new AnswerCache(path);
    cache.add("k", { labels: [1] });
    expect(readFileSync(path, "utf8")).toContain('"k"'); // the answer is on the disk before the caller can use it
    cache.add("l", 2);
    cache.add("k", 3);
  }
  appendFileSync(path, 'no json\n{"key":5,"answer":1}\nnull\n{"key":"m","ans');
  {
    using cache = new AnswerCache(path);
    expect(["k", "l", "m"].map((key) => cache.get(key))).toEqual([3, 2, undefined]);
    cache.add("m", 4);
  }
  using cache = new AnswerCache(path);
  expect(cache.get("m")).toBe(4);
});

test("a key is a SHA-256 of all parts, kept apart", () => {
  expect(requestKey(1, "a", "b")).toMatch(/^[0-9a-f]{64}$/);
  const keys = [
    requestKey(1, "a", "b"),
    requestKey(1, "ab", ""),
    requestKey(2, "a", "b"),
    requestKey("1", "a", "b"),
  ];
  expect(new Set(keys).size).toBe(4);
});
