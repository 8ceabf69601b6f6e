/**
 * Fingerprint of face.ts and binding.ts without their comments: what TypeScript and the addon say to each other. Written
 * here only: CMakeLists.txt puts it into the addon, load.ts compares, and test/native/stamp.test.ts says what it must be.
 */
export const INTERFACE_STAMP = "2c143fd02b4e";
