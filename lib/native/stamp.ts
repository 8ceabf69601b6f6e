/**
 * Fingerprint of face.ts, binding.ts, ../custom-objective.ts, group-face.ts, model-face.ts, receiver-face.ts and teacher-face.ts without their comments: the interface between TypeScript and the addon.
 * Written only here: CMakeLists.txt compiles it into the addon, load.ts compares the two, and
 * test/native/stamp.test.ts computes it.
 */
export const INTERFACE_STAMP = "5b5876868042";
