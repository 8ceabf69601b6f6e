import fc from "fast-check";

/**
 * Uses the same draws in every run, so that a gate never fails by chance. HONE_TEST_SEED=N uses another seed,
 * `random` a random one, here as in the C++ tests. A failing property prints its seed and the path to the
 * counterexample.
 */
const given = process.env["HONE_TEST_SEED"] ?? "1";
fc.configureGlobal(given === "random" ? {} : { seed: Number(given) });
