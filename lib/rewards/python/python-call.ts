/** Call of a reward function in a Python file. Plain data: it travels to verifier hosts. */
export interface PythonCall {
  /** Command that starts Python, without a shell: ["python3"], ["uv", "run", "python"]. */
  readonly command: readonly string[];
  /** Absolute path of the Python file. */
  readonly file: string;
  /** The function's name in the file; empty for `reward`, or `compute_score`. */
  readonly function: string;
  /** Form of TRL's completions; default: "messages" if the row's prompt is a conversation. */
  readonly completions?: "text" | "messages" | undefined;
  /** Number of steps of the run, a field of trainer_state. */
  readonly maxSteps: number;
  /** Number of concurrent Python processes. */
  readonly processes: number;
}
