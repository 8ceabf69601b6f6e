import { describe, expect, test } from "vitest";
import { Progress } from "../../lib/report/progress.ts";

class FakeTerminal {
  text = "";
  readonly isTTY: boolean;
  columns: number | undefined = 80;
  rows: number | undefined = 24;

  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }

  write(text: string): void {
    this.text += text;
  }

  /** The text on the screen after all cursor movements and erasures. */
  get screen(): string[] {
    const rows: string[] = [""];
    let [row, column] = [0, 0];
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that Progress uses
    for (const part of this.text.split(/(\u001b\[\d*[A-Za-z]|\n)/)) {
      const line = rows[row]!;
      if (part === "\n") {
        row += 1;
        column = 0;
        rows[row] ??= "";
      } else if (part.startsWith("\u001b[")) {
        if (part.endsWith("A")) row -= Number(part.slice(2, -1));
        if (part.endsWith("K")) rows[row] = line.slice(0, column);
        if (part.endsWith("J")) rows.splice(row, rows.length, line.slice(0, column));
      } else {
        rows[row] = line.slice(0, column) + part + line.slice(column + part.length);
        column += part.length;
      }
    }
    return rows;
  }
}

const step = (n: number) => ({ step: n, version: n, metrics: { "score/mean": n / 10, "time/step": 0.5 } });
const options = (terminal: FakeTerminal, environment: Record<string, string> = {}) => {
  const clock = { ms: 0, now: () => clock.ms };
  return { clock, options: { title: "run", domains: ["math"], terminal, environment, clock } };
};

describe("without a terminal", () => {
  test("writes two lines a phase and one a step, with no escape", () => {
    const terminal = new FakeTerminal(false);
    const { clock, options: o } = options(terminal);
    const progress = new Progress(o);
    progress.phase("training", 2);
    progress.advance(1, "not shown");
    for (const n of [1, 2]) progress.step(step(n));
    clock.ms = 1500;
    progress.close();
    progress.close();
    progress.say("after the end");
    expect(terminal.text.split("\n")).toEqual([
      'phase="training" total=2',
      "step=1 version=1 score=0.1000 seconds=0.500",
      "step=2 version=2 score=0.2000 seconds=0.500",
      'phase="training" done=2 seconds=1.50 not shown',
      "",
    ]);
  });

  test("a long phase tells where it is every two seconds, of steps only the first, the last and those at that time", () => {
    const terminal = new FakeTerminal(false);
    const { clock, options: o } = options(terminal);
    const progress = new Progress(o);
    progress.phase("warm start", 90);
    for (let n = 1; n <= 90; ++n) {
      clock.ms += 50;
      progress.advance(n, "loss 0.5");
    }
    progress.phase("training", 70);
    for (let n = 1; n <= 70; ++n) {
      clock.ms += 100;
      progress.step(step(n));
    }
    progress.close();
    expect(terminal.text.split("\n").map((line) => line.replace(/^(step=\d+ version=\d+) .*/, "$1"))).toEqual(
      [
        'phase="warm start" total=90',
        'phase="warm start" done=40 total=90 loss 0.5',
        'phase="warm start" done=80 total=90 loss 0.5',
        'phase="warm start" done=90 seconds=4.50 loss 0.5',
        'phase="training" total=70',
        ...[1, 21, 41, 61, 70].map((n) => `step=${n} version=${n}`),
        'phase="training" done=70 seconds=7.00',
        "",
      ],
    );
  });
});

describe("on a terminal", () => {
  test("redraws in place, at most ten times a second", () => {
    const terminal = new FakeTerminal(true);
    const { clock, options: o } = options(terminal);
    const progress = new Progress(o);
    progress.phase("training", 100);
    const draws = () => terminal.text.split("training ").length - 1;
    for (let n = 1; n <= 50; ++n) {
      clock.ms += 10;
      progress.step(step(n));
    }
    expect(draws()).toBe(1 + 5);
    expect(terminal.screen.filter((line) => line.includes("training"))).toHaveLength(1);
  });

  test("leaves the last frame of a phase and starts the next below it", () => {
    const terminal = new FakeTerminal(true);
    const { options: o } = options(terminal);
    const progress = new Progress(o);
    progress.phase("warm start", 10);
    progress.advance(10, "loss 0.4");
    progress.phase("training", 5);
    progress.step(step(5));
    progress.say("checkpoint written");
    progress.close();
    const screen = terminal.screen.join("\n");
    expect(screen).toContain("warm start 10/10  loss 0.4");
    expect(screen.indexOf("checkpoint written")).toBeGreaterThan(screen.indexOf("warm start"));
    expect(screen.match(/training 5\/5/g)).toHaveLength(1);
  });

  test.each([0, 1, -1, Number.NaN, undefined, 5])(
    "of %s columns throws nothing and is written to",
    (columns) => {
      const terminal = new FakeTerminal(true);
      terminal.columns = columns;
      terminal.rows = columns;
      const progress = new Progress(options(terminal).options);
      progress.phase("training", 2);
      for (const n of [1, 2])
        progress.step({ ...step(n), metrics: { "time/step": Number.NaN, "score/mean": 1 } });
      progress.say("said");
      progress.close();
      expect(terminal.text).toContain("said");
    },
  );

  test("made narrower, it erases the rows that its own lines have wrapped into; a frame is never higher than the screen", () => {
    const terminal = new FakeTerminal(true);
    const { clock, options: o } = options(terminal);
    const progress = new Progress(o);
    progress.phase("training", 2);
    terminal.columns = 20;
    terminal.text = "";
    clock.ms += 200;
    progress.advance(1);
    // Two lines of 79 columns take four rows of 20 each.
    expect(terminal.text.startsWith("\u001b[8A")).toBe(true);
    terminal.rows = 2;
    terminal.text = "";
    clock.ms += 200;
    progress.step(step(1));
    expect(terminal.text.split("\n")).toHaveLength(2);
  });

  test.each([
    ["colour", {}, true, true],
    ["no colour by FORCE_COLOR=0", { FORCE_COLOR: "0" }, true, false],
    ["no colour by FORCE_COLOR=false", { FORCE_COLOR: "false" }, true, false],
    ["an empty FORCE_COLOR means nothing", { FORCE_COLOR: "" }, true, true],
    ["no colour on a dumb terminal", { TERM: "dumb" }, true, false],
    ["no colour in CI", { CI: "true" }, true, false],
    ["CI=false is no CI", { CI: "false" }, true, true],
    ["no colour by NO_COLOR", { NO_COLOR: "1" }, true, false],
    ["an empty NO_COLOR means nothing", { NO_COLOR: "" }, true, true],
    ["NO_COLOR wins over FORCE_COLOR", { NO_COLOR: "1", FORCE_COLOR: "1" }, true, false],
    ["no colour into a pipe", {}, false, false],
    ["colour into a pipe by FORCE_COLOR", { FORCE_COLOR: "1" }, false, true],
  ])("%s", (_, environment, tty, colored) => {
    const progress = new Progress(options(new FakeTerminal(tty), environment).options);
    expect(progress.style.bold("x") !== "x").toBe(colored);
  });

  test.each([{ TERM: "dumb" }, { CI: "1" }])("one that is dumb or a log's gets lines: %o", (environment) => {
    const terminal = new FakeTerminal(true);
    const progress = new Progress(options(terminal, environment as Record<string, string>).options);
    progress.phase("training", 1);
    progress.step(step(1));
    expect(terminal.text).toContain("step=1 version=1");
    expect(terminal.text).not.toContain("\u001b");
  });
});
