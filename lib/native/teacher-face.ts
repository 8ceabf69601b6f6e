// The native core's interface for learning from a teacher's whole distributions (csrc/kernels/divergence.h); a part of
// face.ts.

/**
 * Teacher data for the N tokens that a batch's mask counts, in their order: inputs of the teacher's head, or
 * its k likeliest tokens.
 */
export interface TeacherTokens {
  /** [N, width]; a trainer that learns from these gets the head by `setTeacherHead`. */
  readonly teacherHidden?: Float32Array;
  /** [N, k] distinct ids, and their natural log-probs at the temperature of training. */
  readonly teacherIds?: Int32Array;
  readonly teacherTopLogprobs?: Float32Array;
}

/** What a teacher returns: also `logprobs`, the [T] natural log-probs of the batch's own tokens. */
export interface TeacherScores extends TeacherTokens {
  readonly logprobs: Float32Array;
}

/**
 * Loss term: coef times the mean divergence of the step's counted tokens: KL(teacher || policy) at beta 0,
 * KL(policy || teacher) at beta 1.
 */
export interface TeacherTerm {
  readonly coef: number;
  readonly beta: number;
  /**
   * Tokens have the weights of KL and entropy terms, 1 / (N n) in a sequence of n, not equal ones. Default:
   * false.
   */
  readonly bySequence?: boolean;
  /**
   * With beta 1: treats all tokens other than the k likeliest as one more token. Without it both
   * distributions are divided by their mass on the k tokens.
   */
  readonly rest?: boolean;
}

/** The matrix that computes logits, by rows; `softcap`: cap of the logits, or 0. */
export interface TeacherHead {
  readonly weights: Float32Array;
  readonly width: number;
  readonly softcap: number;
}

/** With several ranks, all ranks make each call together; a single rank may call `teacherHead` if weights are not sharded. */
export interface TeacherFace<Batch> {
  /** Called on the teacher. `topK` 0 returns hidden states. */
  teach(batch: Batch, temperature: number, topK: number): Promise<TeacherScores>;
  /** Called on the teacher: the head that computes logits from hidden states. */
  teacherHead(): Promise<TeacherHead>;
  /** Called on the student: the head for steps whose batches have `teacherHidden`. */
  setTeacherHead(head: TeacherHead): Promise<void>;
}
