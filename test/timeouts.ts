import { vi } from "vitest";
import { patient } from "./patience.ts";

/** Sets the limits of tests and hooks that name none, by how busy the machine is when their file begins. */
vi.setConfig({ testTimeout: patient(30_000), hookTimeout: patient(60_000) });
