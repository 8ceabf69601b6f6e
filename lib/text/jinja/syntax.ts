/** The parts of a template. `line` counts from 1. Source: jinja2/nodes.py of Jinja 3.1, names kept. */

/** A syntax error in a template. */
export class TemplateSyntaxError extends Error {
  readonly line: number;
  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

export type Expression =
  | { readonly type: "Const"; readonly line: number; readonly value: string | number | boolean | null }
  /** True for a number written with a fraction or an exponent: it is a float even if its value is whole. */
  | { readonly type: "FloatConst"; readonly line: number; readonly value: number }
  | { readonly type: "Name"; readonly line: number; readonly name: string }
  | { readonly type: "List" | "Tuple"; readonly line: number; readonly items: readonly Expression[] }
  | {
      readonly type: "Dict";
      readonly line: number;
      readonly pairs: readonly (readonly [Expression, Expression])[];
    }
  | {
      readonly type: "Unary";
      readonly line: number;
      readonly operator: "-" | "+" | "not";
      readonly node: Expression;
    }
  | {
      readonly type: "Binary";
      readonly line: number;
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly type: "Compare";
      readonly line: number;
      readonly first: Expression;
      readonly rest: readonly (readonly [CompareOperator, Expression])[];
    }
  | {
      readonly type: "Condition";
      readonly line: number;
      readonly test: Expression;
      readonly value: Expression;
      readonly otherwise: Expression | undefined;
    }
  | { readonly type: "Attribute"; readonly line: number; readonly object: Expression; readonly name: string }
  | { readonly type: "Item"; readonly line: number; readonly object: Expression; readonly key: Expression }
  | {
      readonly type: "Slice";
      readonly line: number;
      readonly object: Expression;
      readonly bounds: readonly [Expression?, Expression?, Expression?];
    }
  | { readonly type: "Call"; readonly line: number; readonly callee: Expression; readonly given: Given }
  | {
      readonly type: "Filter";
      readonly line: number;
      /** Missing at the head of a filter block. */
      readonly operand: Expression | undefined;
      readonly name: string;
      readonly given: Given;
    }
  | {
      readonly type: "Test";
      readonly line: number;
      readonly operand: Expression;
      readonly name: string;
      readonly given: Given;
    };

export type CallExpression = Extract<Expression, { type: "Call" }>;

export type BinaryOperator = "or" | "and" | "+" | "-" | "*" | "/" | "//" | "%" | "**" | "~";
export type CompareOperator = "==" | "!=" | "<" | ">" | "<=" | ">=" | "in" | "not in";

/** Arguments of a call, as written. */
export interface Given {
  readonly positional: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
  readonly spread?: Expression;
  readonly spreadNamed?: Expression;
}

/** The target of an assignment: a name, an attribute of a namespace, or several in a row. */
export type Target =
  | { readonly type: "Name"; readonly name: string }
  | { readonly type: "Attribute"; readonly object: string; readonly name: string }
  | { readonly type: "Tuple"; readonly targets: readonly Target[] };

export interface Parameter {
  readonly name: string;
  readonly otherwise: Expression | undefined;
}

export type Statement = { readonly line: number } & (
  | { readonly type: "Text"; readonly text: string }
  | { readonly type: "Output"; readonly value: Expression }
  | {
      readonly type: "If";
      readonly branches: readonly { readonly test: Expression; readonly body: Body; readonly line: number }[];
      readonly otherwise: Body;
    }
  | {
      readonly type: "For";
      readonly target: Target;
      readonly over: Expression;
      readonly filter: Expression | undefined;
      readonly recursive: boolean;
      readonly body: Body;
      readonly otherwise: Body;
    }
  | { readonly type: "Set"; readonly target: Target; readonly value: Expression }
  | {
      readonly type: "SetBlock";
      readonly target: Target;
      /** Filters to send the text through, outermost last. */
      readonly filter: Expression | undefined;
      readonly body: Body;
    }
  | { readonly type: "With"; readonly pairs: readonly (readonly [Target, Expression])[]; readonly body: Body }
  | {
      readonly type: "Macro";
      readonly name: string;
      readonly parameters: readonly Parameter[];
      readonly body: Body;
    }
  | {
      readonly type: "CallBlock";
      readonly call: CallExpression;
      readonly parameters: readonly Parameter[];
      readonly body: Body;
    }
  | { readonly type: "FilterBlock"; readonly filter: Expression; readonly body: Body }
  | { readonly type: "Block"; readonly body: Body }
  | { readonly type: "Break" | "Continue" }
);

export type Body = readonly Statement[];
