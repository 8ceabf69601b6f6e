import type { Environment, EpisodeProblem, TurnMessage, TurnOutcome } from "../domains/index.ts";
import type { FinishReason } from "../records.ts";
import { PlayingProcess, type PythonSource } from "./playing-process.ts";

/** Where an episode's state is: the process that holds it, and the episode's number in this process. */
interface PlayedState {
  readonly process: PlayingProcess;
  readonly episode: number;
}

/**
 * An environment in separate Python processes, started on demand. A process runs one call at a time and holds
 * the states of its episodes: if it ends, they are unscored.
 */
export class PythonEnvironment implements Environment<PlayedState> {
  readonly tools: Environment["tools"];
  readonly #source: PythonSource;
  #processes: PlayingProcess[] = [];
  #episodes = 0;

  /** @param tools shown to the policy */
  constructor(source: PythonSource, tools?: readonly unknown[]) {
    this.#source = source;
    this.tools = tools;
  }

  /**
   * Imports the file and creates an object. Returns a line about it: its parameters and the Python version. Throws an
   * error with the cause.
   */
  about(): Promise<string> {
    return this.#freest().load();
  }

  async reset(problem: EpisodeProblem): Promise<PlayedState> {
    const process = this.#freest();
    const state = { process, episode: ++this.#episodes };
    await process.begin({ op: "reset", episode: state.episode, problem });
    return state;
  }

  async step({ process, episode }: PlayedState, message: TurnMessage): Promise<TurnOutcome> {
    const { outcome } = await process.play({ op: "step", episode, message });
    return outcome!;
  }

  async score(
    { process, episode }: PlayedState,
    end: { readonly finish: FinishReason; readonly turns: number },
  ): Promise<number> {
    const { score } = await process.play({ op: "score", episode, end });
    process.leave();
    return score!;
  }

  /** Ends the processes. */
  close(): void {
    for (const process of this.#processes) process.close();
    this.#processes = [];
  }

  #freest(): PlayingProcess {
    this.#processes = this.#processes.filter(({ isAlive }) => isAlive);
    const freest = this.#processes.reduce<PlayingProcess | undefined>(
      (least, one) => (least === undefined || one.episodes < least.episodes ? one : least),
      undefined,
    );
    if (freest !== undefined && (freest.episodes === 0 || this.#processes.length >= this.#source.processes))
      return freest;
    const started = new PlayingProcess(this.#source);
    this.#processes.push(started);
    return started;
  }
}
