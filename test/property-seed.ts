import fc from "fast-check";

/**
 * Every property draws from one seed, so that a run of the tests says the same twice; HONE_TEST_SEED draws
 * others, here and in the C++ tests. A property that fails prints its seed and the path to the counterexample.
 */
fc.configureGlobal({ seed: Number(process.env["HONE_TEST_SEED"] ?? 0) });
