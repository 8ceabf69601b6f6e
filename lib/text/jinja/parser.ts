/** Reads a template. Source: jinja2/parser.py of Jinja 3.1, its loop controls, and transformers' `generation`. */
import { tokenize } from "./lexer.ts";
import type { Body, Statement } from "./syntax.ts";
import { type Blocks, TAGS, tuple } from "./tags.ts";
import { TokenReader } from "./token-reader.ts";

/** Throws TemplateSyntaxError naming the line of what cannot be read. */
export function parseTemplate(source: string): Body {
  const parser = new Parser(new TokenReader(tokenize(source)));
  return parser.whole();
}

/** Parses bodies of nested statements. */
class Parser implements Blocks {
  readonly tokens: TokenReader;
  loops = 0;

  constructor(tokens: TokenReader) {
    this.tokens = tokens;
  }

  whole(): Body {
    const body = this.#body();
    if (!this.tokens.is("end")) this.tokens.fail(`unexpected tag ${this.tokens.following.value}`);
    return body;
  }

  /** Statements up to a tag with one of these names, which is not consumed; without names up to the end. */
  #body(...ends: readonly string[]): Body {
    const tokens = this.tokens;
    const opened = tokens.line;
    const body: Statement[] = [];
    for (;;) {
      const { line } = tokens;
      if (tokens.is("end")) {
        if (ends.length > 0)
          tokens.fail(`the template ends inside a block: ${ends.join(" or ")} is missing`, opened);
        return body;
      }
      if (tokens.is("text")) body.push({ type: "Text", line, text: tokens.next().value });
      else if (tokens.take("open-output")) {
        const value = tuple(tokens);
        tokens.expect("close-output");
        body.push({ type: "Output", line, value });
      } else if (ends.includes(tokens.following.value)) return body;
      else body.push(this.#statement());
    }
  }

  #statement(): Statement {
    const tokens = this.tokens;
    const { line } = tokens.expect("open-block");
    const name = tokens.expect("name").value;
    const read = Object.hasOwn(TAGS, name) ? TAGS[name] : undefined;
    if (read === undefined) return tokens.fail(`unknown or misplaced tag "${name}"`, line);
    const statement = read(this, line);
    tokens.expect("close-block");
    return statement;
  }

  inside(...ends: readonly string[]): readonly [Body, string] {
    this.tokens.expect("close-block");
    const body = this.#body(...ends);
    this.tokens.expect("open-block");
    return [body, this.tokens.next().value];
  }

  insideLoops(loops: number, ...ends: readonly string[]): readonly [Body, string] {
    const around = this.loops;
    this.loops = loops;
    const read = this.inside(...ends);
    this.loops = around;
    return read;
  }
}
