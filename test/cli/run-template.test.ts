import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { exportRun, exportRunAdapters, exportText } from "../../lib/cli/export-run.ts";
import { runTemplate, templateFiles, templateWarning } from "../../lib/cli/run-template.ts";
import { defineRecipe } from "../../lib/config/index.ts";
import { writeRunManifest } from "../../lib/metrics/index.ts";
import { openTokenizer } from "../../lib/native/tokenizer.ts";
import { chatFormat } from "../../lib/text/index.ts";
import { minimal } from "../config/recipes.ts";
import { tinyModel } from "../fixtures/model-folder.ts";

const TEMPLATE =
  "{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{% endfor %}{% if tools %}T{% endif %}>";

let dir: string;
let run: string;
let base: string;
let file: string;
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "hone-run-template-"));
  [run, base, file] = [join(dir, "run"), join(dir, "base"), join(dir, "mine.jinja")];
  writeFileSync(file, TEMPLATE);
  await tinyModel(base);
  mkdirSync(join(base, "additional_chat_templates"));
  writeFileSync(
    join(base, "additional_chat_templates", "tool_use.jinja"),
    "tools: {{ messages[0].content }}",
  );
  await tinyModel(join(run, "checkpoints", "step-000003"));
  record(TEMPLATE);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** Writes the run.json of a run that used this chat template. */
function record(text: string): void {
  const recipe = {
    ...defineRecipe(minimal()),
    tokenizer: "model",
    model: { folder: base },
    chatTemplate: { file },
  };
  const model = {
    folder: base,
    files: { [basename(file)]: createHash("sha256").update(text).digest("hex") },
  };
  writeRunManifest(run, { name: "r", config: recipe, model, seeds: {}, versions: {} });
}

const found = () => ({ run, recipe: { chatTemplate: { file } } }) as Parameters<typeof runTemplate>[0];
const export_ = () => exportRun({ run, target: join(dir, "out") }, async () => base);

test("an exported folder asks as the run did, with tools and without, by whichever file a reader takes", async () => {
  expect(await export_()).toMatchObject({ template: { file } });
  const out = join(dir, "out");
  const tokenizer = openTokenizer(out);
  const [exported, ran] = [chatFormat(out, tokenizer), chatFormat(base, tokenizer, { file })];
  for (const tools of [undefined, '[{"type":"function","function":{"name":"f"}}]']) {
    const asked = { question: "1 + 1?", messages: [{ role: "user", content: "1 + 1?" }], tools };
    expect(exported.prompt(asked as never)).toEqual(ran.prompt(asked as never));
    expect(exported.prompt(asked as never)).not.toEqual(chatFormat(base, tokenizer).prompt(asked as never));
  }
  const config = (folder: string) => JSON.parse(readFileSync(join(folder, "tokenizer_config.json"), "utf8"));
  expect(config(out)).toEqual({ ...config(base), chat_template: TEMPLATE });
  expect(readdirSync(out)).not.toContain("additional_chat_templates");
});

test.each([
  ["another text now", () => writeFileSync(file, "{{ 1 }}"), "has changed since the run"],
  [
    "a file of this machine that a folder from elsewhere names",
    () => record("other"),
    "has changed since the run",
  ],
  ["gone", () => rmSync(file), "cannot read"],
])("a template that is %s is told and not carried", async (_, change, why) => {
  change();
  const report = await export_();
  expect(report.template!.fault).toContain(why);
  expect(exportText(report, "1 MiB")).toContain(
    "warning: the folder has the base model's chat template, not the run's",
  );
  expect(readdirSync(join(dir, "out"))).not.toContain("chat_template.jinja");
  expect(runTemplate(found())).not.toHaveProperty("text");
});

test("adapters have the template beside them", async () => {
  const checkpoint = join(run, "checkpoints", "step-000003");
  writeFileSync(join(checkpoint, "adapter_config.json"), "{}");
  writeFileSync(join(checkpoint, "adapter_model.safetensors"), "");
  await exportRunAdapters({ run, target: join(dir, "peft") }, async () => base);
  expect(readFileSync(join(dir, "peft", "chat_template.jinja"), "utf8")).toBe(TEMPLATE);
});

test("a run that asked as its model's folder says has nothing to carry", () => {
  expect(runTemplate({ run, recipe: {} } as Parameters<typeof runTemplate>[0])).toBeUndefined();
  expect(templateFiles({}, base)).toEqual([]);
  expect([templateWarning(undefined), templateWarning({ file })]).toEqual([undefined, undefined]);
});
