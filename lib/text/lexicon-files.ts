import type { LexiconTokenizer } from "./lexicon-tokenizer.ts";

export interface TextFile {
  readonly name: string;
  readonly text: string;
}

/** Chat template that writes the prompt of plainFormat: bos and the question; an answer ends with eos. */
const CHAT_TEMPLATE =
  "{{ bos_token }}{% for message in messages %}{{ message['content'] }}{% for call in message['tool_calls'] or [] %}{{ call['function']['name'] }}({{ call['function']['arguments'].values() | join(',') }}){% endfor %}{% if message['role'] == 'assistant' %}{{ eos_token }}{% endif %}{% endfor %}";

/**
 * A lexicon as the files of a Hugging Face tokenizer with the same ids: characters are byte-level pieces
 * without merges, and words are added tokens, which are matched leftmost first and longest first, as in the
 * lexicon. Text outside the vocabulary is an error of the lexicon; transformers leaves it out.
 * @param maxPositions of the model, for tokenizer_config.json.
 */
export function lexiconFiles(lexicon: LexiconTokenizer, maxPositions: number): TextFile[] {
  const names = Array.from({ length: lexicon.vocabularySize }, (_, id) => lexicon.nameOf(id)!);
  const specials = new Set<number>(Object.values(lexicon.special));
  const { bos, eos, pad } = lexicon.special;
  const word = (content: string, id: number) => ({
    id,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: specials.has(id),
  });
  const start = names[bos]!;
  const tokenizer = {
    version: "1.0",
    truncation: null,
    padding: null,
    normalizer: null,
    added_tokens: names.map(word).filter(({ content }) => content.length > 1),
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false },
    post_processor: {
      type: "TemplateProcessing",
      single: [{ SpecialToken: { id: start, type_id: 0 } }, { Sequence: { id: "A", type_id: 0 } }],
      pair: [{ Sequence: { id: "A", type_id: 0 } }, { Sequence: { id: "B", type_id: 1 } }],
      special_tokens: { [start]: { id: start, ids: [bos], tokens: [start] } },
    },
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(names.map((name, id) => [name.length === 1 ? byteLevel(name) : name, id])),
      merges: [],
    },
  };
  const config = {
    tokenizer_class: "PreTrainedTokenizerFast",
    model_max_length: maxPositions,
    bos_token: start,
    eos_token: names[eos],
    pad_token: names[pad],
    clean_up_tokenization_spaces: false,
    chat_template: CHAT_TEMPLATE,
  };
  const generation = { bos_token_id: bos, eos_token_id: eos, pad_token_id: pad };
  return Object.entries({ tokenizer, tokenizer_config: config, generation_config: generation }).map(
    ([name, value]) => ({ name: `${name}.json`, text: `${JSON.stringify(value, null, 2)}\n` }),
  );
}

/** GPT-2's byte alphabet: maps space and newline to other characters, the other ASCII characters to themselves. */
function byteLevel(character: string): string {
  const code = character.charCodeAt(0);
  return code <= 0x20 ? String.fromCharCode(0x100 + code) : character;
}
