// Hostile templates must not exhaust the process's memory. Each of these once ended the process, or would have (V8
// gives up with exit 133).
import { expect, test } from "vitest";
import { HoneError } from "../../../lib/errors.ts";
import { ChatTemplate } from "../../../lib/text/chat-template.ts";

const MEMORY = /too long|too much memory/;

test.each([
  [
    "a list doubled 60 times",
    "{% set ns = namespace(a=[1]) %}{% for i in range(60) %}{% set ns.a = ns.a + ns.a %}{% endfor %}",
  ],
  [
    "a text that replace doubles 40 times",
    "{% set ns = namespace(a='xx') %}{% for i in range(40) %}{% set ns.a = ns.a | replace('x', 'xx') %}{% endfor %}",
  ],
  [
    "the method replace",
    "{% set ns = namespace(a='xx') %}{% for i in range(40) %}{% set ns.a = ns.a.replace('x', 'xx') %}{% endfor %}",
  ],
  [
    "a text doubled by +",
    "{% set ns = namespace(a='x') %}{% for i in range(60) %}{% set ns.a = ns.a + ns.a %}{% endfor %}{{ ns.a }}",
  ],
  [
    "a text doubled by ~",
    "{% set ns = namespace(a='x') %}{% for i in range(60) %}{% set ns.a = ns.a ~ ns.a %}{% endfor %}{{ ns.a }}",
  ],
  [
    "lists that hold each other, printed",
    "{% set ns = namespace(a=['x']) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a }}",
  ],
  [
    "the same as JSON",
    "{% set ns = namespace(a=['x']) %}{% for i in range(60) %}{% set ns.a = [ns.a, ns.a] %}{% endfor %}{{ ns.a | tojson }}",
  ],
  ["a row filled up to a thousand million", "{{ [1] | batch(1000000000, 0) | list | length }}"],
  ["a thousand million columns", "{{ [1] | slice(1000000000) | list | length }}"],
  ["an indent of a thousand million", "{{ 'a\nb' | indent(1000000000) }}"],
  ["JSON with such an indent", "{{ [1] | tojson(indent=1000000000) }}"],
  ["a separator of millions between thousands", "{{ range(100000) | join('x' * 16000000) | length }}"],
  [
    "many long lists kept",
    "{% set ns = namespace(a=[]) %}{% for i in range(1000) %}{% set ns.a = ns.a + [range(100000) | list] %}{% endfor %}",
  ],
  [
    "many long copies kept",
    "{% set t = 'x' * 16000000 %}{% set ns = namespace(a=[]) %}{% for i in range(1000) %}{% set ns.a = ns.a + [t | upper] %}{% endfor %}",
  ],
])("%s", (_, source) => {
  const before = process.memoryUsage().rss;
  let thrown: unknown;
  try {
    new ChatTemplate(source, "hostile").render([]);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(HoneError);
  expect((thrown as HoneError).message).toMatch(MEMORY);
  expect(process.memoryUsage().rss - before).toBeLessThan(1.5 * 2 ** 30);
});

test("a conversation of a thousand long turns is no hostile template", () => {
  const messages = Array.from({ length: 1000 }, (_, i) => ({
    role: i % 2 === 0 ? "user" : "assistant",
    content: "word ".repeat(2000),
  }));
  const source =
    "{% set ns = namespace(t='') %}{% for m in messages %}{% set ns.t = ns.t + '<' + m.role + '>' + (m.content | trim) %}{% endfor %}{{ ns.t }}";
  const text = new ChatTemplate(source, "long").render(messages);
  expect(text.length).toBeGreaterThan(9_990_000);
});
