import { z } from "zod";

/** Names of environment variables; their values are in no file. */
export const variableNames = z
  .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, "it must be the name of an environment variable"))
  .default([]);
