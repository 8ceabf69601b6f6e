/** Whether the long tests run as well: `npm run test:all` sets it, `npm test` leaves them out (`describe.runIf(long)`). */
export const long = process.env["HONE_TEST_ALL"] === "1";

/** Whether runs are worn down for hours: `npm run test:chaos`. */
export const soak = process.env["HONE_SOAK"] !== undefined;
