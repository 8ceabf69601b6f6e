import { expect, test } from "vitest";
import { LiveFrame } from "../../lib/report/live-frame.ts";

const ESC = "\u001b[";
function frameOn(columns: number, rows = 24) {
  const terminal = {
    isTTY: true,
    columns,
    rows,
    text: "",
    write: (text: string) => {
      terminal.text += text;
    },
  };
  return { terminal, frame: new LiveFrame(terminal) };
}

test("the first frame is only written, the next goes up as many rows as stand", () => {
  const { terminal, frame } = frameOn(80);
  frame.draw(() => ["a", "b"]);
  expect(terminal.text).toBe(`a${ESC}K\nb${ESC}K\n${ESC}J`);
  terminal.text = "";
  frame.draw((columns) => [`${columns}`]);
  expect(terminal.text).toBe(`${ESC}2A79${ESC}K\n${ESC}J`);
});

test("a terminal made narrower since has wrapped the lines that stand", () => {
  const { terminal, frame } = frameOn(80);
  frame.draw(() => ["x".repeat(70), "y"]);
  terminal.columns = 20;
  terminal.text = "";
  frame.erase();
  expect(terminal.text).toBe(`${ESC}5A${ESC}J`); // x takes four rows, y one
  terminal.text = "";
  frame.erase();
  expect(terminal.text).toBe("");
});

test("no more lines than leave the last row free, and a frame that is left stays", () => {
  const { terminal, frame } = frameOn(80, 3);
  frame.draw(() => ["a", "b", "c", "d"]);
  expect(terminal.text).toBe(`a${ESC}K\nb${ESC}K\n${ESC}J`);
  frame.leave();
  terminal.text = "";
  frame.draw(() => ["e"]);
  expect(terminal.text).toBe(`e${ESC}K\n${ESC}J`);
});
