// A verifier that throws until the file named by HONE_TEST_FLAKY exists.
import { existsSync } from "node:fs";

export default {
  verify() {
    if (!existsSync(process.env.HONE_TEST_FLAKY)) throw new Error("out of order");
    return { status: "correct", score: 1, reason: "mended" };
  },
};
