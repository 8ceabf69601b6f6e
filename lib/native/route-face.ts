// Routes of a mixture of experts on their way through the core: bytes of csrc/model/routes.h, as many for each row.

/** Part of an engine's options. */
export interface RecordsRoutes {
  /** Report which experts rows went to; of mixtures alone. Default: false. */
  readonly routes?: boolean;
}

/** Part of an engine's message; absent unless it records routes. */
export interface MessageRoutes {
  /**
   * One entry per token: rows of `routes` that it brings, which are those computed since its attempt's last token, all
   * of the prompt with the first.
   */
  readonly routeRows?: Int32Array;
  readonly routes?: Uint8Array;
}

/** Part of a batch. */
export interface BatchRoutes {
  /** [T, width] experts that rows go to in place of the router's choice; a row of bytes 255 chooses. Default: all choose. */
  readonly routes?: Uint8Array;
}

/** Part of a step's report, for the trainer that reports. */
export interface RouteCounts {
  /** Number of recorded choices of experts, one per row and layer; and of those where the router would have chosen others. */
  readonly givenRoutes: number;
  readonly replacedRoutes: number;
}
