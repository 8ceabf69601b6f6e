import type { Family } from "../data/family.ts";
import { DOMAIN_ROWS } from "./registry.ts";

/** The families of the quick start, in domain order. */
export const FAMILIES: readonly Family[] = DOMAIN_ROWS.flatMap(([, { families = [] }]) => families);
