import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withDtype } from "../../../lib/inference/convert.ts";
import { exportModel, inspectModel, loadModel, writeStandIn } from "../../../lib/inference/index.ts";
import { parseConfig } from "../../../lib/shared/models/config-json.ts";
import { temporaryFolder } from "../../fixtures/model-folder.ts";

const named = (word: string) => ({ __float__: word });

test("infinities of Python become what transformers 5 writes, outside of strings alone", () => {
  const text = String.raw`{"a": [0.0, Infinity], "b": -Infinity, "c": NaN, "d": "a \" Infinity", "e": "NaN"}`;
  expect(parseConfig(text)).toEqual({
    a: [0, named("Infinity")],
    b: named("-Infinity"),
    c: named("NaN"),
    d: 'a " Infinity',
    e: "NaN",
  });
});

test.each(["", "{", '{"a": Infinity', "{'a': 1}", '{"a": inf}', '"Infinity'])("%j is no config", (text) => {
  expect(() => parseConfig(text)).toThrow(SyntaxError);
});

test("a text of escaped quotes without an end is refused at once", () => {
  const begun = performance.now();
  expect(() => parseConfig(`${'"'}${'\\"'.repeat(500_000)} NaN`)).toThrow(SyntaxError);
  expect(performance.now() - begun).toBeLessThan(5_000);
});

const PUBLISHED = JSON.parse(readFileSync("test/fixtures/models/published.json", "utf8")) as Record<
  string,
  { readonly config: object }
>;

test("a Granite hybrid that transformers 4 saved is read, made small, loaded and exported", async () => {
  using folder = temporaryFolder();
  const { config } = PUBLISHED["ibm-granite/granite-4.0-h-350m"]!;
  const bare = (text: string) => text.replaceAll(/\{"__float__":"Infinity"\}/g, "Infinity");
  const given = bare(JSON.stringify({ ...config, time_step_limit: [0.01, named("Infinity")] }));
  expect(() => JSON.parse(given)).toThrow();
  const small = join(folder.path, "small");
  await writeStandIn(small, given);
  const text = bare(readFileSync(join(small, "config.json"), "utf8"));
  expect(text).toContain('"time_step_limit":[0.01,Infinity]');
  writeFileSync(join(small, "config.json"), text);
  await (await loadModel(small)).weights.close();
  const target = join(folder.path, "exported");
  await exportModel(undefined, { checkpoint: small, target, dtype: "bf16" });
  expect(readFileSync(join(target, "config.json"), "utf8")).toBe(withDtype(text, "bf16"));
  expect((await inspectModel(target)).architecture).toBe("granitemoehybrid");
});
