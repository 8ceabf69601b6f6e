// Renders a template with variables of every kind. Python's Jinja2 3.1 rendered the expected texts of the neighbouring
// tests (sandboxed, trim_blocks, lstrip_blocks, tojson = json.dumps without ASCII escapes).
import { ChatTemplate } from "../../../lib/text/chat-template.ts";
import { readJson } from "../../../lib/text/jinja/values.ts";

const VARIABLES = readJson(
  String.raw`{"text": " \u00dcn\u00ef \ud83d\ude00 tEXT\t", "list": [3, 1, 2], "mixed": [1, "a", null, true, 2.5, {"k": [1.0]}], "map": {"b": 1, "a": {"x": "y"}}, "n": 7, "f": 2.0, "t": true, "z": null, "s": "a-b-c", "e": []}`,
) as Record<string, unknown>;

export const render = (source: string): string =>
  new ChatTemplate(source, "test").render([], { variables: VARIABLES });
