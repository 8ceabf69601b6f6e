// Asks each installed shell which completions it would offer.
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { completionScript, SHELLS } from "../../lib/cli/completion.ts";
import { program } from "../../lib/cli/program.ts";

const has = (shell: string) => spawnSync(shell, ["--version"]).status === 0;

/** Returns the completions that bash offers for the last word. */
function offered(...words: string[]): string[] {
  const ask = `${completionScript(program(), "bash")}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
_hone; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync("bash", ["-c", ask], { encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout.split("\n").filter(Boolean);
}

test.each([
  [
    ["hone", "re"],
    ["replay", "report", "rescore"],
  ],
  [
    ["hone", "data", ""],
    ["check", "count", "useful", "--help"],
  ],
  [["hone", "plan", "--gpu"], ["--gpu-memory"]],
  [["hone", "run", "recipe.mjs", "--res"], ["--resume"]],
  [["hone", "run", "rec"], []],
])("bash: %j", (words, expected) => {
  expect(offered(...words)).toEqual(expected);
});

test("every verb of the command is offered", () => {
  const verbs = program().commands.map((verb) => verb.name());
  expect(offered("hone", "")).toEqual(expect.arrayContaining(verbs));
});

test.each(SHELLS)("the script for %s is one it can read", (shell) => {
  const script = completionScript(program(), shell);
  expect(script).toContain("gpu-memory");
  if (!has(shell)) return;
  expect(spawnSync(shell, ["-n"], { input: script, encoding: "utf8" })).toMatchObject({
    status: 0,
    stderr: "",
  });
});
