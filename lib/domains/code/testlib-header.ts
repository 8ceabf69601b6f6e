/** The header that checkers include. */
export const TESTLIB = "testlib.h";

/** True if a checker's source includes testlib.h. */
export const needsTestlib = (source: string): boolean => /^\s*#\s*include\s*[<"]testlib\.h[>"]/m.test(source);
