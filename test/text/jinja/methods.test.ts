// Methods of str with Python's behaviour. Deliberate faults (mutants) that these tests detect: strip ignores its set;
// rsplit cuts from the left; find counts UTF-16 units.
import { expect, test } from "vitest";
import { render } from "./rendering.ts";

test.each([
  [
    "{{ text.strip() }}|{{ 'xyaxy'.strip('yx') }}|{{ '\\n\\n a'.lstrip('\\n') }}|{{ 'a \\n'.rstrip('\\n') }}|",
    "\u00dcn\u00ef \ud83d\ude00 tEXT|a| a|a |",
  ],
  [
    "{{ s.split('-') }} {{ s.split('-', 1) }} {{ s.rsplit('-', 1) }} {{ ' a  b '.split() }}",
    "['a', 'b', 'c'] ['a', 'b-c'] ['a-b', 'c'] ['a', 'b']",
  ],
  ["{{ 'hELLO'.capitalize() }} {{ 'a\\nb\\r\\nc\\n'.splitlines() }}", "Hello ['a', 'b', 'c']"],
  ["{{ s.find('b') }} {{ s.find('q') }} {{ '\ud83d\ude00b'.find('b') }} {{ s.count('-') }}", "2 -1 1 2"],
  ["{{ s.removeprefix('a-') }} {{ s.removesuffix('-c') }} {{ s.removesuffix('') }}", "b-c a-b a-b-c"],
  ["{{ '12'.isdigit() }} {{ '1a'.isdigit() }} {{ ''.isdigit() }}", "True False False"],
  ["{{ ', '.join(['a', 'b']) }} {{ s.startswith('a') }} {{ s.endswith(('b', 'c')) }}", "a, b True True"],
  ["{{ '\ud83d\ude00ab'[0] }}{{ '\ud83d\ude00ab'[-1] }}{{ '\ud83d\ude00ab'[1:] }}", "\ud83d\ude00bab"],
  ["{{ map.get('a') }} {{ map.get('q', 'none') }} {{ map['a'].x }}", "{'x': 'y'} none y"],
])("%s", (source, rendered) => {
  expect(render(source)).toBe(rendered);
});

test.each([
  ["{{ ', '.join([1]) }}", "sequence item 0: expected str instance, int found"],
  ["{{ ','.join(3) }}", "'int' object is not iterable"],
  ["{{ 'a'.find(1) }}", "a str is needed, not int"],
  ["{{ 'a'.count() }}", "a str is needed, not nothing"],
  ["{{ 'a'.shout() }}", "'str object' has no attribute 'shout'"],
])("%s fails", (source, message) => {
  expect(() => render(source)).toThrow(message);
});
