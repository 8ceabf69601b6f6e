import { GroupParser } from "./group-parser.ts";
import { isText, numberOf } from "./name-parser.ts";
import { readUnit } from "./quantity.ts";
import { parseDecimal } from "./rational.ts";
import type { Value } from "./syntax.ts";
import * as s from "./syntax.ts";
import { SyntaxFault, type Token } from "./token.ts";
import { isCurrency } from "./unit-names.ts";

const MAX_DEPTH = 120;

/** Parses atoms: numbers, names, and groups from their opening to their closing token. */
export abstract class AtomParser extends GroupParser {
  #depth = 0;

  protected primary(): Value {
    if (this.pending) {
      const ready = this.pending;
      this.pending = undefined;
      return ready;
    }
    if (++this.#depth > MAX_DEPTH) throw new SyntaxFault("nested too deeply");
    const value = this.#primaryOf(this.next());
    this.#depth--;
    return value;
  }

  #primaryOf(token: Token): Value {
    switch (token.kind) {
      case "number":
        return this.numeral(token.text);
      case "percent":
        return { kind: "percent", of: numberOf(token.text) };
      case "scientific": {
        const [digits = "", exponent = "0"] = token.text.split("E");
        return s.number(parseDecimal(digits, Number(exponent)), "decimal");
      }
      case "letter":
      case "symbol":
      case "accent":
        if (this.options.strict && isText(token) && isCurrency(token.body ?? ""))
          return readUnit(token.body ?? "");
        return this.applied(this.name(token));
      case "e":
        return s.constant("e");
      case "infinity":
        return s.constant("infinity");
      case "differential":
        return s.symbol(`d${token.text}`);
      case "domain":
        return { kind: "domain", name: token.text as s.SetName };
      case "(":
      case "[":
        return this.bracket(token.kind);
      case "{":
      case "{set":
        return this.brace(token.kind === "{" ? "}" : "}set");
      case "group":
        this.expect("{");
        return this.brace("}");
      default:
        return this.#construct(token);
    }
  }

  #construct(token: Token): Value {
    switch (token.kind) {
      case "langle":
        return this.angled();
      case "|":
        return s.call("abs", this.bar("|"));
      case "lvert":
        return s.call("abs", this.inside("rvert"));
      case "norm":
        return s.call("abs", this.inside("norm"));
      case "lfloor":
        return s.call("floor", this.inside("rfloor"));
      case "lceil":
        return s.call("ceil", this.inside("rceil"));
      case "frac": {
        const [above, below] = [this.argument(), this.argument()];
        return s.quotient(above, below);
      }
      case "binom": {
        const [above, below] = [this.argument(), this.argument()];
        return s.call("binomial", above, below);
      }
      case "sqrt": {
        const degree = this.accept("[") ? this.inside("]") : undefined;
        const base = this.argument();
        return s.power(base, degree === undefined ? s.HALF : s.quotient(s.whole(1), degree));
      }
      case "function":
        return this.function(token.text);
      case "operator":
        return this.operator(token.text);
      case "many":
        return this.many(token.text);
      case "integral":
      case "series":
      case "limit":
        return this.bound(token);
      case "begin":
        return this.matrix(token.text);
      default:
        throw new SyntaxFault(`unexpected ${token.text || token.kind}`);
    }
  }
}
