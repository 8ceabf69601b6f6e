import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { QUICKSTART_LEXICON } from "../../lib/domains/index.ts";
import { HoneError } from "../../lib/errors.ts";
import { openTokenizer } from "../../lib/native/index.ts";
import { membersOf } from "../../lib/shared/text/json-text.ts";
import { chatFormat, LexiconTokenizer, plainFormat } from "../../lib/text/index.ts";
import { readJson } from "../../lib/text/jinja/values.ts";
import { noAddon } from "../e2e/native-core.ts";
import { golden, goldenText } from "../fixtures/goldens.ts";
import { TEMPLATE, writeModelFiles } from "../fixtures/model-folder.ts";
import { smallTokenizer } from "../native/small-tokenizer.ts";

// Deliberate faults (mutants) that these tests detect: the text keeps the ending token; an id without text is counted
// and decoded; tools are dropped for a template that shows them; a conversation with a system message gets a second
// one; the template's own end is not a stop id; the recipe's template is read without the folder's bos; a thought
// that is closed in the prompt, or opened in a message, counts as open.

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hone-format-"));
  writeModelFiles(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));
const configure = (config: object) =>
  writeFileSync(
    join(folder, "tokenizer_config.json"),
    JSON.stringify({ bos_token: "<s>", eos_token: "</s>", ...config }),
  );
const codeOf = (work: () => unknown): string | undefined => {
  try {
    work();
  } catch (error) {
    return HoneError.is(error) ? error.code : String(error);
  }
  return undefined;
};

describe("a plain format", () => {
  const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
  const format = plainFormat(tokenizer);

  test("asks with bos and the question, whose spellings of special tokens are characters", () => {
    const ids = format.prompt({ question: "say <eos>" });
    expect(tokenizer.decode(ids)).toBe("<bos>say <eos>");
    expect([...ids].filter((id) => id < 5)).toEqual([tokenizer.special.bos]);
  });

  test("reads what comes before the end; ends in the middle and other special tokens are spelled", () => {
    const read = (text: string) => format.read(tokenizer.encode(text));
    expect(format.stopIds).toEqual([tokenizer.special.eos]);
    expect(read("<think>1</think>2<eos>")).toEqual({ text: "<think>1</think>2", textless: 0 });
    expect(read("a<eos>b")).toEqual({ text: "a<eos>b", textless: 0 });
    expect(format.read(new Int32Array(0))).toEqual({ text: "", textless: 0 });
  });

  test("may be told other ends", () => {
    const other = plainFormat(tokenizer, [tokenizer.idOf("\n")!]);
    expect(other.read(tokenizer.encode("ok\n")).text).toBe("ok");
    expect(other.read(tokenizer.encode("ok<eos>")).text).toBe("ok<eos>");
  });
});

describe.skipIf(noAddon !== undefined)("a chat format", () => {
  const TOOLS = `[{"type": "function", "function": {"name": "f", "least": 1.0}}]`;
  const open = (choice = {}) => {
    const tokenizer = openTokenizer(folder);
    const format = chatFormat(folder, tokenizer, choice);
    const ask = (task: Parameters<typeof format.prompt>[0]) => tokenizer.decode(format.prompt(task));
    return { tokenizer, format, ask };
  };

  test("asks through the folder's template, special tokens as such, and opens the answer", () => {
    const { tokenizer, format, ask } = open();
    expect(ask({ question: "1+1?" })).toBe("<s>[user]1+1?</s>\n[assistant]");
    const ids = [...format.prompt({ question: "1+1?" })];
    expect([ids[0], ids.filter((id) => id === 259).length]).toEqual([259, 1]);
    expect(ids).toContain(tokenizer.idOf("</s>"));
  });

  test.each([
    [
      "a variable of the recipe",
      { variables: { enable_thinking: true } },
      {},
      "[user]q</s>\n[assistant]<think>",
    ],
    ["a system message of the recipe", { system: "S" }, {}, "[system]S</s>\n[user]q</s>\n[assistant]"],
    [
      "the row's own turns",
      {},
      {
        messages: [
          { role: "user", content: "a" },
          { role: "user", content: "b" },
        ],
      },
      "[user]a</s>\n[user]b</s>\n[assistant]",
    ],
    [
      "the row's own system message before the recipe's",
      { system: "S" },
      { messages: [{ role: "system", content: "T" }] },
      "[system]T</s>\n[assistant]",
    ],
    [
      "tools where the template shows them",
      {},
      { tools: TOOLS, messages: [{ role: "user", content: "call" }] },
      `<tools>{"type": "function", "function": {"name": "f", "least": 1.0}}</tools>\n[user]call</s>\n[assistant]`,
    ],
  ])("takes %s", (_, choice, task, expected) => {
    expect(open(choice).ask({ question: "q", ...task })).toBe(`<s>${expected}`);
  });

  test("asks the question in words where the template shows no tools", () => {
    configure({ chat_template: TEMPLATE.replace(/{%- if tools.*?endif -%}/s, "") });
    const messages = [{ role: "user", content: "call" }];
    expect(open().ask({ question: "f exists. call", messages, tools: TOOLS })).toBe(
      "<s>[user]f exists. call</s>\n[assistant]",
    );
  });

  test("takes the template called tool_use for tools only", () => {
    const tools = "{% for t in tools %}({{ t.function.name }}){% endfor %}";
    const named = [
      { name: "default", template: "D{{ messages[0].content }}" },
      { name: "tool_use", template: `U${tools}{{ messages[0].content }}` },
    ];
    configure({ chat_template: named });
    expect(open().ask({ question: "q" })).toBe("Dq");
    expect(open().ask({ question: "q", tools: TOOLS })).toBe("U(f)q");
  });

  test("a template of the recipe wins, with the folder's bos", () => {
    const file = join(folder, "mine.jinja");
    writeFileSync(file, "{{ bos_token }}Q: {{ messages[0].content }}\nA:");
    expect(open({ file }).ask({ question: "q" })).toBe("<s>Q: q\nA:");
    expect(codeOf(() => open({ file: join(folder, "none.jinja") }))).toBe("HONE_ERR_IO");
  });

  test("completions end where the template ends a turn, and at every end the files name", () => {
    configure({ eos_token: "<s>" });
    writeFileSync(join(folder, "chat_template.jinja"), TEMPLATE.replace("{{ eos_token }}", "</s>"));
    writeFileSync(join(folder, "generation_config.json"), JSON.stringify({ eos_token_id: [7] }));
    expect(open().format.stopIds).toEqual([260, 7, 259]); // </s> from the template and config.json, then <s> as eos_token
    expect(open({ stopIds: [9] }).format.stopIds).toEqual([9]);
  });

  test("a folder without a template, or a recipe that wants none, asks the words alone, as transformers encodes a text", () => {
    for (const choice of [{}, { plain: true }]) {
      if (!("plain" in choice)) configure({ eos_token: "</s>" });
      const { format, tokenizer, ask } = open(choice);
      expect(format.lacksTemplate).toBe(!("plain" in choice));
      const messages = [
        { role: "user", content: "a" },
        { role: "user", content: "b</s>" },
      ];
      expect(ask({ question: "q" })).toBe(tokenizer.decode(tokenizer.encode("q", { addSpecial: true })));
      expect(format.prompt({ question: "q", messages })).toEqual(
        tokenizer.encode("a\n\nb</s>", { addSpecial: true }),
      );
      expect(ask({ question: "in words", messages, tools: TOOLS })).toContain("in words");
      expect(open({ ...choice, system: "S" }).ask({ question: "q" })).toContain("S\n\nq");
      expect(format.stopIds).toContain(tokenizer.idOf("</s>"));
      expect(format.read(Int32Array.of(...tokenizer.encode("ok"), 260)).text).toBe("ok");
      configure({ chat_template: TEMPLATE, eos_token: "</s>" });
    }
  });

  test("a model without any end is refused", () => {
    configure({ eos_token: undefined, chat_template: "{{ messages[0].content }}" });
    writeFileSync(join(folder, "config.json"), "{}");
    expect(() => open()).toThrow("no file and no chat template names an end token");
  });

  test.each([["{}"], ["[1"], ["3"]])("tools that are no list are a data error: %s", (tools) => {
    expect(codeOf(() => open().ask({ question: "q", tools }))).toBe("HONE_ERR_DATA");
  });

  test("turns the template refuses are a data error", () => {
    configure({ chat_template: "{{ raise_exception('no ' ~ messages[0].role) }}" });
    const { format } = open();
    expect(codeOf(() => format.prompt({ question: "q" }))).toBe("HONE_ERR_DATA");
  });

  test("ids the vocabulary has no token for read as nothing and are counted", () => {
    const { format, tokenizer } = open();
    const ids = [...tokenizer.encode("ab")];
    expect(format.read(Int32Array.from([269, ids[0]!, 300, ids[1]!, 260]))).toEqual({
      text: "ab",
      textless: 2,
    });
    expect(format.read(Int32Array.from([104, 269]))).toEqual({ text: "h", textless: 1 });
  });

  test("so do ids between those of its tokens that have none", () => {
    const tokenizer = smallTokenizer() as { added_tokens: object[] };
    const far = { ...tokenizer.added_tokens[0], id: 266, content: "<far>" };
    const holed = { ...tokenizer, added_tokens: [...tokenizer.added_tokens, far] };
    writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(holed));
    expect(open().format.read(Int32Array.from([104, 264, 266]))).toEqual({ text: "h<far>", textless: 1 });
  });

  test("a thought that the prompt opens is part of the completion, one that it closes is not", () => {
    const read = (choice: object) => {
      const { format, tokenizer } = open(choice);
      return format.read(tokenizer.encode("1</think>2")).text;
    };
    expect(read({ variables: { enable_thinking: true } })).toBe("<think>1</think>2");
    expect(read({})).toBe("1</think>2");
    configure({ chat_template: TEMPLATE.replace("<think>", "<think></think>") });
    expect(read({ variables: { enable_thinking: true } })).toBe("1</think>2");
    configure({ chat_template: TEMPLATE.replace("{{ m.content }}", "think in <think>: {{ m.content }}") });
    expect(read({})).toBe("1</think>2");
  });

  test("half a character reads as transformers decodes it", () => {
    expect(open().format.read(Int32Array.from([...open().tokenizer.encode("é")].slice(0, 1))).text).toBe(
      "\ufffd",
    );
  });
});

interface TemplateCase {
  readonly template: string;
  readonly messages: readonly { role: string; content: string }[];
  readonly tools: readonly unknown[] | null;
  readonly add_generation_prompt: boolean;
  readonly kwargs: Record<string, unknown>;
  readonly bos_token: string | null;
  readonly eos_token: string | null;
  readonly rendered?: string;
}

const templates = golden<Record<string, string>>("chat-templates/templates.json");
const qwen2 = existsSync(join("../shared/reference/goldens/tokenizers/qwen2/tokenizer.json"));

test.skipIf(templates === undefined || !qwen2 || noAddon !== undefined)(
  "prompts are what transformers renders and encodes, for every golden conversation that asks for an answer",
  () => {
    const tokenizer = openTokenizer("../shared/reference/goldens/tokenizers/qwen2");
    let compared = 0;
    for (const line of goldenText("chat-templates/cases.jsonl")!.trim().split("\n")) {
      const one = readJson(line) as TemplateCase;
      if (!one.add_generation_prompt || one.rendered === undefined) continue;
      configure({
        bos_token: one.bos_token,
        eos_token: one.eos_token,
        chat_template: templates![one.template],
      });
      const format = chatFormat(folder, tokenizer, { variables: one.kwargs, stopIds: [0] });
      const { messages, rendered } = one;
      const tools = one.tools === null ? undefined : membersOf(line).get("tools")!;
      // templates that show no tools get a request in words instead
      if (tools !== undefined && !/function/.test(rendered)) continue;
      const ids = format.prompt({ question: "", messages, ...(tools !== undefined && { tools }) });
      expect([...ids]).toEqual([...tokenizer.encode(rendered)]);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(80);
  },
);
