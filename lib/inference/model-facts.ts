import { describeModel, type ModelFacts } from "../native/index.ts";
import { parseConfig } from "../shared/models/config-json.ts";

const warned = new Set<string>();

/** True if unknown fields of a config.json are refused; `--strict-config` sets the variable. */
const strictConfig = (): boolean => process.env["HONE_STRICT_CONFIG"] === "1";

interface Described {
  readonly configJson: string;
  /** Name of the config in warnings. */
  readonly where: string;
  readonly strict: boolean;
  readonly facts: ModelFacts;
}
/** Caches the core's last result: a plan asks for the same model thousands of times, at 2 ms for a mixture of experts. */
let last: Described | undefined;

function described(configJson: string, where: string): ModelFacts {
  const strict = strictConfig();
  if (last?.configJson !== configJson || last.where !== where || last.strict !== strict)
    last = { configJson, where, strict, facts: describeModel(configJson, where, strict) };
  return last.facts;
}

/**
 * Sizes and parts of the model that a config.json describes. Warns once about an unknown field by a process warning
 * (HONE_WARN_CONFIG), or refuses it with HONE_STRICT_CONFIG=1. Throws what describeModel throws.
 */
export function modelFacts(configJson: string, where = "config.json"): ModelFacts {
  const facts = described(configJson, where);
  for (const field of facts.warnings.filter((text) => !warned.has(text))) {
    warned.add(field);
    process.emitWarning(
      `${field} is not a field that Hone knows, so it is ignored; --strict-config refuses it`,
      {
        type: "HoneWarning",
        code: "HONE_WARN_CONFIG",
      },
    );
  }
  return facts;
}

/**
 * The text of a config.json for sequences of up to `tokens` tokens. Only `longrope` (Phi-3, Phi-4-mini) depends on
 * it: it has one list of factors up to its original positions and another beyond. The longest sequence selects the
 * list for all sequences, so that a token's values do not depend on later tokens. Returns other configs unchanged.
 */
export function withContext(configJson: string, tokens: number): string {
  if (!dependsOnContext(configJson)) return configJson;
  return JSON.stringify({ ...(parseConfig(configJson) as object), hone_max_context: tokens });
}

/** True if a model's values depend on the length of its longest sequence. @param configJson text of its config.json */
export const dependsOnContext = (configJson: string): boolean => configJson.includes('"long_factor"');

/** Names in config.json of layers without keys and values. */
const WITHOUT_KEYS: readonly string[] = ["linear_attention", "mamba", "conv", "mlp", "moe"];

interface LayerKinds {
  readonly model_type?: string;
  readonly layer_types?: readonly string[] | null;
  readonly layers_block_type?: readonly string[] | null;
  readonly hybrid_override_pattern?: string | null;
  readonly full_attention_interval?: number | null;
  readonly full_attn_idxs?: readonly number[] | null;
  readonly text_config?: LayerKinds;
}

/**
 * Number of layers with keys and values: all but those of gated DeltaNet, Mamba-2 and short convolution, and
 * Nemotron-H's layers of an MLP alone. Trusts a config that the core accepts.
 */
export function layersOfAttention(configJson: string, layers: number): number {
  const whole = parseConfig(configJson) as LayerKinds;
  const text = whole.text_config ?? whole;
  const types = text.layer_types ?? text.layers_block_type;
  if (types) return types.filter((type) => !WITHOUT_KEYS.includes(type)).length;
  if (text.hybrid_override_pattern)
    return [...text.hybrid_override_pattern].filter((kind) => kind === "*").length;
  if (text.full_attn_idxs?.length) return text.full_attn_idxs.length;
  if (text.model_type !== "qwen3_5_text") return layers;
  return Math.floor(layers / (text.full_attention_interval ?? 4));
}
