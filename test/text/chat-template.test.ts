// Compares with every golden rendering of nine templates, made by transformers; then tests the errors, by template and
// line.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { HoneError } from "../../lib/errors.ts";
import { ChatTemplate, openChatTemplate } from "../../lib/text/chat-template.ts";
import { readJson } from "../../lib/text/jinja/values.ts";

const shared = process.env["HONE_SHARED"] ?? fileURLToPath(new URL("../../../shared", import.meta.url));
const goldens = join(shared, "reference/goldens/chat-templates");
const user = (content: string) => [{ role: "user", content }];

interface GoldenCase {
  readonly template: string;
  readonly messages: { role: string }[];
  readonly tools: unknown[] | null;
  readonly add_generation_prompt: boolean;
  readonly kwargs: Record<string, unknown>;
  readonly bos_token: string;
  readonly eos_token: string;
  readonly rendered?: string;
  readonly error?: string;
}

function errorOf(call: () => unknown): HoneError {
  try {
    call();
  } catch (error) {
    if (HoneError.is(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe.skipIf(!existsSync(goldens))("goldens (skipped where they are not beside the repository)", () => {
  const load = () => {
    const templates = JSON.parse(readFileSync(join(goldens, "templates.json"), "utf8")) as Record<
      string,
      string
    >;
    const cases = readFileSync(join(goldens, "cases.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => readJson(line) as GoldenCase);
    return { templates, cases };
  };

  test("every case renders the same text or fails with the same exception", () => {
    const { templates, cases } = load();
    expect(cases).toHaveLength(218);
    for (const [i, each] of cases.entries()) {
      const template = new ChatTemplate(templates[each.template]!, each.template, {
        bosToken: each.bos_token,
        eosToken: each.eos_token,
      });
      const render = () =>
        template.render(each.messages, {
          tools: each.tools ?? undefined,
          addGenerationPrompt: each.add_generation_prompt,
          variables: each.kwargs,
        });
      if (each.error === undefined) {
        expect([i, render()]).toEqual([i, each.rendered]);
        continue;
      }
      const error = errorOf(render);
      expect([i, error.code]).toEqual([i, "HONE_ERR_DATA"]);
      const [kind, message] = each.error.split(/: (.*)/s);
      expect([i, error.message]).toEqual([i, expect.stringMatching(/^[\w-]+, line \d+: /)]);
      expect([i, error.message.endsWith(message!)]).toEqual([i, true]);
      expect([i, error.details["raised"]]).toEqual([i, kind === "TemplateError" ? message : undefined]);
    }
  });
});

describe("an error names template and line", () => {
  const source = "{{ bos_token }}\n{% for m in messages %}\n  {{ m.content }}\n";
  test.each([
    [`${source}{% endfor %}{{ raise_exception("no " + messages[0].role) }}`, 4, "no user"],
    [`${source}{% if m.content %}\n{{ raise_exception('inside') }}{% endif %}{% endfor %}`, 5, "inside"],
    [`${source}{% endfor %}\n{{ 'a' + messages }}`, 5, 'can only concatenate str (not "list") to str'],
    ["{% if false %}x{% elif\n\n true + 'x' %}y{% endif %}", 3, "unsupported operand type(s) for +"],
    ["{% if false %}\nx\n{% elif 1 + 'x' %}y{% endif %}", 3, "unsupported operand type(s) for +"],
    [
      "a\n{# {{ not a tag }}\n #}\n{{ 1 + none }}",
      4,
      "unsupported operand type(s) for +: 'int' and 'NoneType'",
    ],
    ["\n{{ nothing.content }}", 2, "'nothing' is undefined"],
    ["\n{{ nothing('x') }}", 2, "'nothing' is undefined"],
    ["\n{{ range(1000000) | list }}", 2, "range of 1000000 is too long"],
    ["\n\n{{ 'ab' * 100000000 }}", 3, "too long"],
  ])("%j", (template, line, message) => {
    const error = errorOf(() => new ChatTemplate(template, "t.jinja").render(user("hi")));
    expect(error.code).toBe("HONE_ERR_DATA");
    expect(error.message).toContain(`t.jinja, line ${line}: `);
    expect(error.message).toContain(message);
    expect(error.details).toMatchObject({ template: "t.jinja", line });
  });

  test.each([
    ["a\n{% raw %}", 2, "raw is not closed by endraw"],
    ["a\n{% include 'x' %}", 2, 'unknown or misplaced tag "include"'],
    ["a\n\n{{ 'x }}", 3, "a string is not closed"],
    ["a\n{{ x | }}\n{{ y }}", 2, ""],
    ["{% if x %}\n{{ x }}\n", 2, "ends inside a block"],
    ["{% for m in messages %}\n{% if m %}\n{% endfor %}", 3, ""],
  ])("unread: %j", (template, line, message) => {
    const error = errorOf(() => new ChatTemplate(template, "t.jinja"));
    expect(error.code).toBe("HONE_ERR_UNSUPPORTED");
    expect(error.message).toContain(`t.jinja, line ${line}: `);
    expect(error.message).toContain(message);
  });

  test("a filter nobody knows is unsupported, not the data's fault", () => {
    const template = new ChatTemplate("\n{{ messages | wordwrap(3) }}", "t.jinja");
    expect(errorOf(() => template.render(user("hi")))).toMatchObject({
      code: "HONE_ERR_UNSUPPORTED",
      message: expect.stringContaining("t.jinja, line 2: ") as string,
    });
  });
});

describe("the template of a folder", () => {
  const folder = mkdtempSync(join(tmpdir(), "hone-template-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  write("tokenizer.json", "{}");
  const list = [
    { name: "default", template: "{{ bos_token }}{{ messages[0].content }}" },
    { name: "tool_use", template: "tools: {{ tools | length }}" },
  ];
  write(
    "tokenizer_config.json",
    JSON.stringify({ bos_token: { content: "<s>" }, eos_token: "</s>", chat_template: list }),
  );

  test("comes from tokenizer_config.json, by name", () => {
    expect(openChatTemplate(folder).render(user("hi"))).toBe("<s>hi");
    expect(openChatTemplate(folder, { name: "tool_use" }).render(user("hi"), { tools: [1, 2] })).toBe(
      "tools: 2",
    );
    expect(errorOf(() => openChatTemplate(folder, { name: "rag" }))).toMatchObject({
      code: "HONE_ERR_CONFIG",
      hint: "It has: default, tool_use.",
    });
  });

  test("gives way to a recipe's own", () => {
    const template = openChatTemplate(folder, { source: "{{ eos_token }}{{ style }}" });
    expect(template.render([], { variables: { style: "!" } })).toBe("</s>!");
    expect(errorOf(() => openChatTemplate(folder, { source: "{% x %}" })).message).toContain(
      "the recipe's chat template, line 1: ",
    );
  });

  test("gives way to chat_template.jinja, and named files beside it", () => {
    write("chat_template.jinja", "file {{ messages[0].content }}\n");
    mkdirSync(join(folder, "additional_chat_templates"));
    write("additional_chat_templates/tool_use.jinja", "named file");
    expect(openChatTemplate(folder).render(user("hi"))).toBe("file hi");
    expect(openChatTemplate(folder, { name: "tool_use" }).render([])).toBe("named file");
    expect(openChatTemplate(folder).where).toBe(join(folder, "chat_template.jinja"));
  });
});

test("thinking and tools are variables like any other", () => {
  const template = new ChatTemplate(
    "{% if enable_thinking is defined and enable_thinking is false %}off{% else %}on{% endif %}{{ tools is none }}",
    "t",
  );
  expect(template.render([])).toBe("onTrue");
  expect(template.render([], { tools: [{}], variables: { enable_thinking: false } })).toBe("offFalse");
});
