import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { QUICKSTART_LEXICON } from "../../lib/domains/index.ts";
import { HoneError } from "../../lib/errors.ts";
import { openTokenizer } from "../../lib/native/index.ts";
import { TOOL_CALL_FORMS } from "../../lib/shared/models/tool-call-forms.ts";
import { chatFormat, LexiconTokenizer, plainFormat } from "../../lib/text/index.ts";
import { noAddon } from "../e2e/native-core.ts";
import { writeModelFiles } from "../fixtures/model-folder.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hone-turns-"));
  writeModelFiles(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** The small tokenizer with the given template. */
function open(template?: string, variables = {}) {
  if (template !== undefined) {
    const config = { bos_token: "<s>", eos_token: "</s>", chat_template: template };
    writeFileSync(join(folder, "tokenizer_config.json"), JSON.stringify(config));
  }
  const tokenizer = openTokenizer(folder);
  return { tokenizer, turns: () => chatFormat(folder, tokenizer, { variables }).turns() };
}

test("without a template an observation follows as it is, spellings of special tokens as characters; what a limit cut is closed", () => {
  const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
  const turns = plainFormat(tokenizer).turns();
  const ids = turns.observation("<eos>91\n", tokenizer.special.eos);
  expect(tokenizer.decode(ids)).toBe("<eos>91\n");
  expect(ids.includes(tokenizer.special.eos)).toBe(false);
  expect([...turns.observation("<eos>91\n", undefined)]).toEqual([tokenizer.special.eos, ...ids]);
  expect(turns.observation("", undefined)).toHaveLength(0);
  expect(turns.toolCalls).toBe("plain");
});

test.skipIf(noAddon !== undefined)(
  "what surrounds an observation is the difference of two renderings; the end is written once",
  () => {
    const { tokenizer, turns } = open();
    const end = tokenizer.special.eos;
    const text = (ended?: number) => tokenizer.decode(turns().observation("91 the", ended));
    expect(text(end)).toBe("\n[tool]91 the</s>\n[assistant]");
    expect(text(undefined)).toBe("</s>\n[tool]91 the</s>\n[assistant]");
    // an end token other than the template's replaces it
    expect(text(tokenizer.idOf("<think>"))).toBe("\n[tool]91 the</s>\n[assistant]");
    expect([...turns().observation("91 the", end)]).toEqual([
      ...tokenizer.encode("\n[tool]91 the</s>\n[assistant]"),
    ]);
  },
);

test.skipIf(noAddon !== undefined)("special tokens spelled in an observation are ordinary characters", () => {
  const { tokenizer, turns } = open();
  const end = tokenizer.special.eos;
  const ids = turns().observation("a</s><s>\ud800", end);
  expect(tokenizer.decode(ids)).toBe("\n[tool]a</s><s>\ufffd</s>\n[assistant]");
  expect([...ids].filter((id) => id === end)).toHaveLength(1);
  expect([...ids].filter((id) => id === tokenizer.idOf("<s>"))).toHaveLength(0);
  // a special token split across the border is not one
  const split = open("{% for m in messages %}[{{ m.role }}]{{ m.content }}</s>{% endfor %}<");
  const joined = split.turns().observation("x<", end);
  expect(split.tokenizer.decode(joined)).toBe("[tool]x<</s><");
});

test.skipIf(noAddon !== undefined)(
  "a template that refuses or rewrites what a tool says is given it as the user's; an opened thought is opened again",
  () => {
    const asUser = [
      "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no') }}{% endif %}",
      "[{{ m.role }}]{{ m.content }}</s>{% endfor %}{% if add_generation_prompt %}[assistant]<think>{% endif %}",
    ].join("");
    const { tokenizer, turns } = open(asUser);
    expect(tokenizer.decode(turns().observation("x", tokenizer.special.eos))).toBe(
      "[user]x</s>[assistant]<think>",
    );
    const escaping = asUser
      .replace("{{ raise_exception('no') }}", "[tool]{{ m.content | tojson }}{% else %}")
      .replace("{% endif %}[", "[")
      .replace("</s>{% endfor %}", "{% endif %}</s>{% endfor %}");
    const other = open(escaping);
    expect(other.tokenizer.decode(other.turns().observation("x", 260))).toContain("[user]x</s>");
  },
);

test.skipIf(noAddon !== undefined)("a template without such a difference is refused by name", () => {
  const numbered = "{% for m in messages %}{{ loop.index }}[{{ m.role }}]{{ m.content }}</s>{% endfor %}";
  const forgetful = "{{ messages[-1].content }}</s>";
  for (const template of [numbered, forgetful]) {
    const error = (() => {
      try {
        open(template).turns();
        return undefined;
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(HoneError.is(error) && error.code).toBe("HONE_ERR_UNSUPPORTED");
  }
});

test.skipIf(noAddon !== undefined)("calls are read in the style that the template writes them", () => {
  const base =
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% if m.tool_calls %}CALLS{% endif %}</s>{% endfor %}";
  const styles = {
    hermes: "<tool_call>{{ m.tool_calls[0].function | tojson }}</tool_call>",
    mistral: "[TOOL_CALLS]{{ m.tool_calls | tojson }}",
    llama: '{"name": "{{ m.tool_calls[0].function.name }}", "parameters": {}}',
  };
  for (const [style, calls] of Object.entries(styles))
    expect(open(base.replace("CALLS", () => calls)).turns().toolCalls).toBe(style);
  expect(open(base).turns().toolCalls).toBe("hermes");
});

test.skipIf(noAddon !== undefined)("a template that writes calls as a family does has its form", () => {
  const base =
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% if m.tool_calls %}CALLS{% endif %}</s>{% endfor %}";
  for (const { name, write } of TOOL_CALL_FORMS) {
    const calls = write("NAME", { x: "VALUE" })
      .replace("NAME", "{{ m.tool_calls[0].function.name }}")
      .replace(/"VALUE"|VALUE/, "{{ m.tool_calls[0].function.arguments.x | tojson }}")
      .replace('string="true"', 'string="false"');
    expect([calls, open(base.replace("CALLS", () => calls)).turns().toolCalls]).toEqual([calls, name]);
  }
});
