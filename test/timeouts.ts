import { vi } from "vitest";
import { patient } from "./patience.ts";

/** Sets the time-outs of tests and hooks without their own, scaled to the machine's load when their file starts. */
vi.setConfig({ testTimeout: patient(30_000), hookTimeout: patient(60_000) });
