import fc from "fast-check";

/**
 * The same draws in every run, so that a gate never fails by chance; HONE_TEST_SEED=N takes others, `random` draws
 * them, here as in the C++ tests. A property that fails prints its seed and the path to the counterexample.
 */
const given = process.env["HONE_TEST_SEED"] ?? "1";
fc.configureGlobal(given === "random" ? {} : { seed: Number(given) });
