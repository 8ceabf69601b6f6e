import { CallParser, type List } from "./call-parser.ts";
import { compare, ZERO } from "./rational.ts";
import type { Expr, Value } from "./syntax.ts";
import * as s from "./syntax.ts";
import { SyntaxFault } from "./token.ts";

/** Parses the content of brackets, braces and bars, and the arguments of f(x). */
export abstract class GroupParser extends CallParser {
  /** Open |...| groups at this bracket level: a bar then closes rather than opens. */
  protected bars = 0;
  /** A bracketed factor already read while deciding between f(x) and f times (x+1). */
  protected pending: Expr | undefined;

  protected abstract list(): List;

  /** Parses an expression up to its closing token. A `|` opened outside of this group cannot be closed inside it. */
  protected inside(close: string): Expr {
    const inner = this.#barless(() => this.expression());
    this.expect(close);
    return inner;
  }

  protected listInside(): List {
    return this.#barless(() => this.list());
  }

  #barless<T>(read: () => T): T {
    const bars = this.bars;
    this.bars = 0;
    const inner = read();
    this.bars = bars;
    return inner;
  }

  protected bar(close: string): Expr {
    this.bars++;
    const inner = this.expression();
    this.bars--;
    this.expect(close);
    return inner;
  }

  protected argument(): Expr {
    if (this.accept("{")) return this.inside("}");
    return this.expression(this.primary());
  }

  protected bracket(open: string): Value {
    const { groups, separators } = this.listInside();
    const close = this.next().kind;
    if (close !== ")" && close !== "]") throw new SyntaxFault("unbalanced bracket");
    const items = groups.flat();
    const [left, right] = items;
    if (
      separators === 1 &&
      (groups.length === 1 || this.options.strict) &&
      items.length === 2 &&
      s.isExpr(left!) &&
      s.isExpr(right!)
    ) {
      return { kind: "interval", left, right, leftOpen: open === "(", rightOpen: close === ")" };
    }
    if ((open === "(") !== (close === ")")) throw new SyntaxFault("brackets of different kinds");
    return items.length === 1 ? items[0]! : { kind: "tuple", items };
  }

  protected brace(close: string): Value {
    if (this.accept(close)) return { kind: "domain", name: "empty" };
    const { groups } = this.listInside();
    const items = groups.flat();
    const only = items[0]!;
    if (items.length === 1 && this.accept("choose")) {
      return s.call("binomial", this.expression(only), this.inside(close));
    }
    this.expect(close);
    if (items.length === 1 && (s.isExpr(only) || only.kind === "relation")) return only;
    return { kind: "set", items };
  }

  /** Parses \langle 1, 2 \rangle: an ordered tuple, never an interval. */
  protected angled(): Value {
    if (!this.options.strict) throw new SyntaxFault("unexpected \\langle");
    const items = this.listInside().groups.flat();
    this.expect("rangle");
    return { kind: "tuple", items };
  }

  /** f(x) and f(x, y+1) are applications; x(y+1) is a product. */
  protected applied(subject: Expr): Expr {
    if (subject.kind !== "symbol" || !this.accept("(")) return subject;
    const items = this.listInside().groups.flat();
    this.expect(")");
    const args = items.map((item) => this.expression(item));
    const only = args[0]!;
    const atom = only.kind === "symbol" || (only.kind === "number" && compare(only.value, ZERO) >= 0);
    const power = only.kind === "power" && only.base.kind === "symbol";
    if (args.length > 1 || atom || power || only.kind === "constant" || only.kind === "percent") {
      return s.call(subject.name, ...args);
    }
    this.pending = only;
    return subject;
  }
}
