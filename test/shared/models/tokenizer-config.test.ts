import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readTokenizerConfig } from "../../../lib/shared/models/tokenizer-config.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hone-config-"));
  writeFileSync(join(folder, "tokenizer.json"), "{}");
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (value: unknown) =>
  writeFileSync(
    join(folder, "tokenizer_config.json"),
    typeof value === "string" ? value : JSON.stringify(value),
  );

test("a folder and its tokenizer.json say the same", () => {
  write({ bos_token: "<s>", eos_token: { content: "</s>", lstrip: false }, pad_token: null });
  const config = readTokenizerConfig(folder);
  expect(config).toEqual({
    tokenizerFile: join(folder, "tokenizer.json"),
    bosToken: "<s>",
    eosToken: "</s>",
    padToken: undefined,
    eosIds: [],
    chatTemplates: new Map(),
  });
  expect(readTokenizerConfig(join(folder, "tokenizer.json"))).toEqual(config);
});

test("a tokenizer.json alone will do", () => {
  expect(readTokenizerConfig(folder)).toMatchObject({ bosToken: undefined, eosToken: undefined });
});

test("every end that a model's files name is one, in a wrapper and in its text model", () => {
  writeFileSync(join(folder, "generation_config.json"), JSON.stringify({ eos_token_id: [7, 5] }));
  expect(readTokenizerConfig(folder).eosIds).toEqual([7, 5]);
  const wrapper = { eos_token_id: null, text_config: { eos_token_id: 3 } };
  writeFileSync(join(folder, "config.json"), JSON.stringify(wrapper));
  expect(readTokenizerConfig(folder).eosIds).toEqual([7, 5, 3]);
  writeFileSync(join(folder, "config.json"), JSON.stringify({ eos_token_id: "</s>" }));
  expect(() => readTokenizerConfig(folder)).toThrow('config.json: eos_token_id has "</s>"');
});

test("one template is the default one", () => {
  write({ chat_template: "{{ x }}" });
  const where = `${join(folder, "tokenizer_config.json")}: chat_template`;
  expect([...readTokenizerConfig(folder).chatTemplates]).toEqual([["default", { source: "{{ x }}", where }]]);
});

test.each([
  ["{", "HONE_ERR_FORMAT", "tokenizer_config.json: "],
  [[1], "HONE_ERR_FORMAT", "not an object"],
  [{ eos_token: 3 }, "HONE_ERR_FORMAT", "eos_token is 3, expected a token"],
  [{ chat_template: 3 }, "HONE_ERR_FORMAT", "chat_template holds 3"],
  [{ chat_template: [{ name: "x" }] }, "HONE_ERR_FORMAT", 'chat_template holds {"name":"x"}'],
  [{ chat_template: [null] }, "HONE_ERR_FORMAT", "chat_template holds null"],
])("%j is refused", (value, code, message) => {
  write(value);
  expect(() => readTokenizerConfig(folder)).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(message) as string }) as Error,
  );
});

test("a folder without tokenizer.json is refused", () => {
  expect(() => readTokenizerConfig(join(folder, "nothing"))).toThrow("does not exist");
  rmSync(join(folder, "tokenizer.json"));
  expect(() => readTokenizerConfig(folder)).toThrow(
    expect.objectContaining({ code: "HONE_ERR_IO" }) as Error,
  );
});
