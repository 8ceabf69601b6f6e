import { z } from "zod";

// The core stores these numbers as f32 and its sizes as int32. Values that it would refuse, or round to 0 or infinity,
// are refused here, where the field has a path. test/e2e/recipe-bounds.test.ts tries the core at every bound.
export const F32_SMALL = 1e-37;
export const F32_LARGE = 1e38;
/** Close to 1, and below 1 also in f32. */
const BELOW_ONE = 0.9999999;
export const INT32 = 2 ** 31 - 1;
/** The longest delay that Node's timers accept. */
export const LONGEST_TIMER_MS = INT32;

export const positive = (most = F32_LARGE) => z.number().min(F32_SMALL).max(most);
/** Schema of a number that is 0 for "off". */
export const orOff = () =>
  z
    .number()
    .min(0)
    .max(F32_LARGE)
    .refine((v) => v === 0 || v >= F32_SMALL, `it must be 0 or at least ${F32_SMALL}`);
export const fraction = () => z.number().min(0).max(1);
export const decay = () => z.number().min(0).max(BELOW_ONE);
export const count = (most = INT32) => z.int().positive().max(most);
export const tokens = () => count(2 ** 30);
export const size = () => count(2 ** 24);

/** Most sequences that run at once, and most attempts at one prompt. */
export const MOST_SEQUENCES = 1 << 16;
