import { CommanderError } from "commander";
import { expect, test } from "vitest";
import { program } from "../../lib/cli/program.ts";
import { usageHint } from "../../lib/cli/usage-hints.ts";

const hint = (code: string, ...args: string[]) =>
  usageHint(new CommanderError(1, `commander.${code}`, ""), args, program());

test("every command that is meant by another name is one", () => {
  const verbs = new Set(program().commands.map((command) => command.name()));
  for (const other of ["train", "evaluate", "ls", "ui", "resume", "chat", "show"]) {
    const said = hint("unknownCommand", other)!;
    const [, verb] = /: hone (\S+)/.exec(said)!;
    expect(verbs, said).toContain(verb);
    expect(verbs).not.toContain(other);
  }
  expect(hint("unknownCommand", "frobnicate")).toBeUndefined();
  expect(hint("unknownCommand")).toBeUndefined();
});

test("a lone argument is what the first required option wants; more than that is not guessed", () => {
  expect(hint("missingMandatoryOptionValue", "eval", "runs/a")).toBe(
    "did you mean: hone eval --model runs/a --suite <names>",
  );
  expect(hint("missingMandatoryOptionValue", "eval")).toBeUndefined();
  expect(hint("missingMandatoryOptionValue", "eval", "a", "b")).toBeUndefined();
  expect(hint("missingMandatoryOptionValue", "eval", "--suite", "x")).toBeUndefined();
  expect(hint("missingMandatoryOptionValue", "export", "runs/a")).toContain("hone export --run runs/a --out");
});
