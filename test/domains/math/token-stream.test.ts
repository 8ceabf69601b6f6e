import { expect, test } from "vitest";
import { SyntaxFault, type Token } from "../../../lib/domains/math/token.ts";
import { TokenStream } from "../../../lib/domains/math/token-stream.ts";

class Reader extends TokenStream {
  read(): string {
    const seen: string[] = [];
    while (this.peek() !== "end") seen.push(this.accept("+") ? "plus" : this.next().text);
    return seen.join(" ");
  }
  want(kind: string): void {
    this.expect(kind);
  }
}
const tokens: Token[] = [
  { kind: "number", text: "1" },
  { kind: "+", text: "+" },
  { kind: "letter", text: "x" },
];

test("tokens come in order, then there is only the end", () => {
  const reader = new Reader(tokens);
  expect(reader.read()).toBe("1 plus x");
  expect(reader.read()).toBe("");
});

test("a missing token is named with what stood there", () => {
  expect(() => new Reader(tokens).want(")")).toThrow(new SyntaxFault("expected ), found number"));
});
