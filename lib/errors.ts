/**
 * The catalogue of errors. Every error raised on purpose is a HoneError with a stable code; docs/reference/errors.md
 * lists them. Codes HONE_ERR_<X> with X in csrc/core/error.h come from the native core.
 */
export type ErrorCode =
  // native core (csrc/core/error.h)
  | "HONE_ERR_SHAPE"
  | "HONE_ERR_CONFIG"
  | "HONE_ERR_OUT_OF_MEMORY"
  | "HONE_ERR_IO"
  | "HONE_ERR_FORMAT"
  | "HONE_ERR_STATE"
  | "HONE_ERR_ABORTED"
  | "HONE_ERR_DATA"
  | "HONE_ERR_NON_FINITE"
  | "HONE_ERR_CUDA"
  | "HONE_ERR_COLLECTIVE"
  | "HONE_ERR_UNSUPPORTED"
  | "HONE_ERR_INTERNAL"
  // TypeScript side
  | "HONE_ERR_NATIVE_LOAD"
  | "HONE_ERR_VERIFIER"
  | "HONE_ERR_OBJECTIVE"
  | "HONE_ERR_CHECKPOINT"
  | "HONE_ERR_STALL"
  | "HONE_ERR_REPLAY"
  | "HONE_ERR_USAGE"
  | "HONE_ERR_TRUST"
  | "HONE_ERR_HUB"
  | "HONE_ERR_ENDPOINT"
  | "HONE_ERR_STREAM";

export interface HoneErrorOptions extends ErrorOptions {
  /** Machine-readable facts: paths, values, ids. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** The next action, one sentence, if the message does not contain it. */
  readonly hint?: string;
}

const BRAND = Symbol.for("hone.error");

/** Every error that this package raises on purpose. `code` is stable; `message` and `hint` may change. */
export class HoneError extends Error {
  override readonly name: string = "HoneError";
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, options: HoneErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
    this.hint = options.hint;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** True for errors of any loaded copy of this package. */
  static is(value: unknown): value is HoneError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}

/** One issue of a recipe; all issues are reported together. */
export interface ConfigIssue {
  /** Dotted path, e.g. "objective.clipHigh". */
  readonly path: string;
  readonly message: string;
  /** Position in the file, "line 3, column 9", for recipes in YAML and JSON. */
  readonly at?: string | undefined;
  /** The nearest known key or value, when a name looks misspelled. */
  readonly suggestion?: string;
}

const shortened = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most)}...` : text;

/** An invalid recipe: all issues in one error. */
export class ConfigError extends HoneError {
  override readonly name = "ConfigError";
  readonly issues: readonly ConfigIssue[];

  constructor(where: string, issues: readonly ConfigIssue[]) {
    const lines = issues.map(
      (i) =>
        `  ${shortened(i.path, 200) || "(recipe)"}${i.at === undefined ? "" : `, ${i.at}`}: ${shortened(i.message, 2000)}${i.suggestion ? ` (did you mean ${i.suggestion}?)` : ""}`,
    );
    super("HONE_ERR_CONFIG", `${where}: ${issues.length} problem(s)\n${lines.join("\n")}`, {
      details: { issues },
    });
    this.issues = issues;
  }
}
