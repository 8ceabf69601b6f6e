// None is a defined value: an attribute, an index or an argument that is None gives None, not undefined. Python's
// Jinja2 3.1.6 rendered the expected texts (ImmutableSandboxedEnvironment, trim_blocks, lstrip_blocks).
import { expect, test } from "vitest";
import { ChatTemplate } from "../../../lib/text/chat-template.ts";

const m = { content: null, role: "assistant" };

test.each([
  [
    "{{ m.content is none }} {{ m['content'] is none }} {{ m.content is defined }} {{ m.content }}",
    "True True True None",
  ],
  ["{% set ns = namespace(a=none) %}{{ ns.a is none }} {{ ns.a }} {{ ns.b is defined }}", "True None False"],
  [
    "{{ [none][0] is none }} {{ [none][0] }} {{ [none][1] is defined }} {{ (none, 1)[0] }}",
    "True None False None",
  ],
  ["{{ [none]|first is none }} {{ [1, none]|last }} {{ []|first is defined }}", "True None False"],
  ["{{ m.get('content', 'x') }} {{ m.get('absent', 'x') }} {{ m.get('absent') }}", "None x None"],
  ["{{ missing|default(none) }} {{ missing|default(none) is none }} {{ missing|default }}|", "None True |"],
  ["{{ 'x'|int(none) }} {{ 'x'|float(none) }} {{ 'x'|int(default=none) }} {{ 'x'|int }}", "None None None 0"],
  [
    "{% for x in [none, 1] %}{{ loop.nextitem }} {{ loop.previtem is none }} {{ loop.cycle(none, 2) }};{% endfor %}",
    "1 False None; True 2;",
  ],
  [
    "{{ none|selectattr('a')|list }} {{ none|rejectattr('a')|list }} {{ none|select|list }} {{ none|map('upper')|list }} {{ 0|map('upper')|list }}",
    "[] [] [] [] []",
  ],
  ["{{ [m]|map(attribute='content')|list }} {{ [m]|selectattr('content', 'none')|list|length }}", "[None] 1"],
  [
    "{{ [{'a': none}, {'a': 1}]|map(attribute='a', default=7)|list }} {{ [{}]|map(attribute='a', default=none)|list }}",
    "[None, 1] [Undefined]",
  ],
  ["{{ [[none, 2]]|map(attribute=0)|list }}", "[None]"],
  ["{% set j = joiner(none) %}{{ j() }}{{ j() }}", "None"],
  ["{{ m|attr('content') is defined }} {{ m|attr('keys') is defined }}", "False True"],
  [
    "{% for k, v in m.items() %}{{ k }}={{ v }};{% endfor %}{{ m.values()|list }}",
    "content=None;role=assistant;[None, 'assistant']",
  ],
])("%s", (source, expected) => {
  expect(new ChatTemplate(source, "test").render([], { variables: { m } })).toBe(expected);
});
