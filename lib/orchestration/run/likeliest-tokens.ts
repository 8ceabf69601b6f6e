import type { TeacherScores } from "../../native/teacher-face.ts";

/** Keeps the first k ids of each list that are in the model's vocabulary; of a list's `asked` ids at most asked - k are not. */
export function firstOf(
  { teacherIds, teacherTopLogprobs, ...scores }: TeacherScores,
  k: number,
  asked: number,
  vocabulary: number,
): TeacherScores {
  if (asked === k || teacherIds === undefined || teacherTopLogprobs === undefined)
    return {
      ...scores,
      ...(teacherIds && { teacherIds }),
      ...(teacherTopLogprobs && { teacherTopLogprobs }),
    };
  const kept: number[] = [];
  for (let row = 0; row < teacherIds.length; row += asked) {
    for (let i = row, n = 0; n < k; i++) {
      if (teacherIds[i]! >= vocabulary) continue;
      kept.push(i);
      n += 1;
    }
  }
  return {
    ...scores,
    teacherIds: Int32Array.from(kept, (i) => teacherIds[i]!),
    teacherTopLogprobs: Float32Array.from(kept, (i) => teacherTopLogprobs[i]!),
  };
}
