import { HoneError } from "../errors.ts";
import { readTokenizerConfig, type TokenizerConfig } from "../shared/models/tokenizer-config.ts";
import type { NativeTokenizer } from "./binding.ts";
import { translated } from "./errors.ts";
import { binding } from "./load.ts";

/**
 * A tokenizer.json of the Hugging Face format, over the addon. Implements the Tokenizer of lib/text; ids and texts
 * are those of Hugging Face tokenizers. Special tokens are the ones its file marks as special.
 */
export class HfTokenizer {
  readonly #native: NativeTokenizer;
  readonly #config: TokenizerConfig;

  /** Throws HONE_ERR_FORMAT or HONE_ERR_UNSUPPORTED naming the part of the file. */
  constructor(config: TokenizerConfig) {
    const { NativeTokenizer } = binding();
    this.#native = translated(() => new NativeTokenizer(config.tokenizerFile));
    this.#config = config;
  }

  get vocabularySize(): number {
    return this.#native.vocabularySize;
  }

  get special(): {
    readonly pad: number | undefined;
    readonly bos: number | undefined;
    readonly eos: number;
    readonly think: number | undefined;
    readonly endThink: number | undefined;
  } {
    const { bosToken, eosToken, padToken } = this.#config;
    const eos = this.#named("eos_token", eosToken);
    if (eos === undefined) {
      throw new HoneError(
        "HONE_ERR_CONFIG",
        `no eos_token in tokenizer_config.json beside ${this.#config.tokenizerFile}`,
        { hint: 'Add {"eos_token": "..."} with the token that ends a turn.' },
      );
    }
    return {
      pad: this.#named("pad_token", padToken),
      bos: this.#named("bos_token", bosToken),
      eos,
      think: this.idOf("<think>"),
      endThink: this.idOf("</think>"),
    };
  }

  encode(
    text: string,
    options: { readonly specials?: "parse" | "spell"; readonly addSpecial?: boolean } = {},
  ): Int32Array {
    return translated(() =>
      this.#native.encode(text, options.addSpecial ?? false, options.specials === "spell"),
    );
  }

  decode(ids: ArrayLike<number>, options: { readonly skipSpecial?: boolean } = {}): string {
    const list = ids instanceof Int32Array ? ids : Int32Array.from(ids);
    return translated(() => this.#native.decode(list, options.skipSpecial ?? false));
  }

  stream(options: { readonly skipSpecial?: boolean } = {}): {
    push(id: number): string;
    end(): string;
  } {
    const { NativeDecodeStream } = binding();
    const stream = new NativeDecodeStream(this.#native, options.skipSpecial ?? false);
    return { push: (id) => translated(() => stream.step(id)), end: () => stream.finish() };
  }

  idOf(name: string): number | undefined {
    return this.#native.idOf(name);
  }

  nameOf(id: number): string | undefined {
    return translated(() => this.#native.nameOf(id));
  }

  tokenBytes(): Uint8Array[] {
    return this.#native.tokenBytes();
  }

  #named(field: string, name: string | undefined): number | undefined {
    if (name === undefined) return undefined;
    const id = this.idOf(name);
    if (id !== undefined) return id;
    throw new HoneError(
      "HONE_ERR_CONFIG",
      `${field} of tokenizer_config.json is ${JSON.stringify(name)}, which ${this.#config.tokenizerFile} does not have`,
    );
  }
}

/**
 * The tokenizer of a Hugging Face model folder, or of a tokenizer.json.
 * Throws HONE_ERR_IO if there is none, HONE_ERR_FORMAT if it is malformed, HONE_ERR_UNSUPPORTED naming an unknown
 * feature that could change a result.
 */
export function openTokenizer(path: string): HfTokenizer {
  return new HfTokenizer(readTokenizerConfig(path));
}
