import { z } from "zod";

/** `reference` reproduces the labels of the reference implementation, its bugs included; `strict` closes its exploits. */
export type Compat = "reference" | "strict";

/** The field of a problem's reference that says which; strict unless said. */
export const compatField = z.enum(["reference", "strict"]).default("strict");

/** What a verifier does in two ways; it takes one of the two when it reads a problem's reference. */
export type JudgedTwoWays<Rules> = Readonly<Record<Compat, Rules>>;
