// The solutions that HumanEval and MBPP publish, as rows of calls: each passes its own tests. Where a result is a
// string that parses as JSON, the parsed value fails. A deliberate fault (mutant) that these tests detect: strict
// parses such strings as JSON.
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { codeVerifier } from "../../lib/domains/code/verify.ts";
import { readJson } from "../../lib/python/json.ts";
import { readLiteral } from "../../lib/python/literal.ts";
import type { PythonValue } from "../../lib/python/value.ts";
import { bubblewrap, hasBubblewrap } from "../fixtures/python-sandboxes.ts";
import { long, longest } from "../long.ts";

const folder = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/data/code");
const code = codeVerifier(async () => bubblewrap);

/** Its published solution returns 0 and 1 where its tests expect False and True. */
const NOT_STRICT = "mbpp 414";

interface Solution {
  readonly id: string;
  readonly source: string;
  readonly name: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly PythonValue[];
}

/** Returns a value as JSON, or undefined where JSON cannot express it. Only in a result a tuple may become a list. */
function json(value: PythonValue, isResult: boolean): string | undefined {
  switch (value.type) {
    case "NoneType":
      return "null";
    case "bool":
    case "int":
      return String(value.value);
    case "float": {
      const text = String(value.value);
      return Number.isFinite(value.value) ? (/[.e]/.test(text) ? text : `${text}.0`) : undefined;
    }
    case "str":
      return JSON.stringify(value.value);
    case "tuple":
    case "list": {
      if (value.type === "tuple" && !isResult) return undefined;
      const items = value.items.map((item) => json(item, isResult));
      return items.includes(undefined) ? undefined : `[${items.join(", ")}]`;
    }
    default:
      return undefined;
  }
}

/** Reads lines or items `assert f(a, b) == c`: arguments and result where they are literals that JSON can express. */
function assertions(lines: readonly string[], name: string) {
  const found = lines.flatMap((line) => {
    const match = new RegExp(`^\\s*assert ${name}\\((.*)\\) == (.*)$`).exec(line.trimEnd());
    if (!match) return [];
    const [args, result] = [readLiteral(`[${match[1]}]`), readLiteral(match[2]!)];
    if ("fault" in args || "fault" in result) return [];
    const input = json(args.value, false);
    // A tuple without parentheses is an expected result followed by the assertion's message.
    const isPair = result.value.type === "tuple" && !match[2]!.startsWith("(");
    const output = isPair && result.value.type === "tuple" ? result.value.items[0]! : result.value;
    return input === undefined || json(output, true) === undefined ? [] : [{ input, output }];
  });
  return { inputs: found.map(({ input }) => input), outputs: found.map(({ output }) => output) };
}

const rows = (file: string) =>
  readFileSync(resolve(folder, file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

function solutions(): Solution[] {
  const mbpp = rows("mbpp.jsonl").map(({ task_id, code: source, test_list, test_setup_code }) => {
    const name = /assert (\w+)\(/.exec(test_list[0])?.[1] ?? "?";
    return {
      id: `mbpp ${task_id}`,
      source: `${test_setup_code}\n${source}`,
      name,
      ...assertions(test_list, name),
    };
  });
  const humaneval = rows("humaneval.jsonl").map(
    ({ task_id, prompt, entry_point, canonical_solution, test }) => {
      const { inputs, outputs } = assertions(test.split("\n"), "candidate");
      return { id: task_id, source: prompt + canonical_solution, name: entry_point, inputs, outputs };
    },
  );
  return [...mbpp, ...humaneval].filter(({ id, inputs }) => inputs.length > 0 && id !== NOT_STRICT);
}

const judge = (source: string, { name, inputs }: Solution, outputs: readonly string[]) => {
  const input_output = `{"fn_name": "${name}", "inputs": [${inputs.join(", ")}], "outputs": [${outputs.join(", ")}]}`;
  const reference = code.parseReference({ input_output });
  return code.verify({ text: `\`\`\`python\n${source}\n\`\`\``, finish: "stop" }, reference);
};

const looksLikeJson = (value: PythonValue) => value.type === "str" && readJson(value.value) !== undefined;

describe.skipIf(!existsSync(folder) || !hasBubblewrap)("published solutions", () => {
  const all = existsSync(folder) ? solutions() : [];
  const misleading = all.filter(({ outputs }) => outputs.some(looksLikeJson));
  const chosen = longest ? all : [...misleading, ...all.filter((_, i) => i % (long ? 16 : 64) === 0)];

  test("pass their own tests", { timeout: 300_000 }, async () => {
    expect(all.length).toBeGreaterThan(350);
    expect(misleading.length).toBeGreaterThan(4);
    const refused: string[] = [];
    for (const solution of chosen) {
      const outputs = solution.outputs.map((value) => `[${json(value, true)}]`);
      const { status, reason } = await judge(solution.source, solution, outputs);
      if (status !== "correct") refused.push(`${solution.id}: ${reason}`);
    }
    expect(refused).toEqual([]);
  });

  test("a text that reads as a number or a list is not that", { timeout: 300_000 }, async () => {
    const accepted: string[] = [];
    for (const solution of misleading) {
      const at = solution.outputs.findIndex(looksLikeJson);
      const one = { ...solution, inputs: solution.inputs.slice(at, at + 1) };
      const expected = solution.outputs[at]!;
      const text = expected.type === "str" ? expected.value : "";
      const cheat = `import json\ndef ${solution.name}(*args):\n    return json.loads(${JSON.stringify(text)})`;
      const { status } = await judge(cheat, one, [`[${json(expected, true)}]`]);
      if (status !== "wrong") accepted.push(solution.id);
    }
    expect(accepted).toEqual([]);
  });
});
