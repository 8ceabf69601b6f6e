import { expect, test } from "vitest";
import { BF16_SET, defaultArithmetic, storedAs } from "../../../lib/shared/models/weight-types.ts";

test.each([
  [{ dtype: "bfloat16" }, "bf16"],
  [{ torch_dtype: "bfloat16" }, "bf16"],
  [{ text_config: { dtype: "bfloat16" } }, "bf16"],
  [{ text_config: { torch_dtype: "bfloat16" } }, "bf16"],
  [{ dtype: "float32", text_config: { dtype: "bfloat16" } }, "f32"],
  [{ torch_dtype: "float16" }, "f32"],
  [{}, "f32"],
])("a config.json with %j says that weights are stored as %s", (config, stored) => {
  expect(storedAs(JSON.stringify(config))).toBe(stored);
});

test("products are bf16 on a GPU, and on a CPU with the instruction where weights are bf16", () => {
  expect(defaultArithmetic("cuda", "f32", "avx2")).toBe("bf16");
  expect(defaultArithmetic("cpu", "bf16", BF16_SET)).toBe("bf16");
  expect(defaultArithmetic("cpu", "bf16", "avx512")).toBe("f32");
  expect(defaultArithmetic("cpu", "f32", BF16_SET)).toBe("f32");
  expect(defaultArithmetic("cpu", undefined, BF16_SET)).toBe("f32");
});
