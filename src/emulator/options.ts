/**
 * How an emulator is started. The package exports these types, so neither they nor what they import may name a type of
 * better-sqlite3: its types are no dependency of the package.
 */

export interface RoutingOptions {
  /** Speed of time. Default: that of the state, or else 1: a task takes about 5 s. 0: time stands still until it is advanced. */
  readonly speed?: number | undefined;
  /** Credit balance. Default: that of the state, or else 100 000. */
  readonly credits?: number | undefined;
  /** Tier 1 to 5, with its concurrency and daily caps. Default: the concurrency of tier 1 without caps. */
  readonly tier?: number | undefined;
  /**
   * A catalog, or changes of the built-in one, as parsed JSON; `docs/EMULATOR.md` shows the shape. Default: the catalog of
   * the state, or else the built-in one.
   */
  readonly catalog?: unknown;
  /** Behaves as strictly as the live service is known to. */
  readonly strict?: boolean | undefined;
}

export interface AddressOptions {
  /** The address to listen at. Default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Further origins, such as `https://emulator.example.com`, of a proxy or of pages that may send requests; `local`: all pages of this machine. */
  readonly origins?: readonly string[] | undefined;
  /** The address at which clients find it, such as `http://emulator.lan:8787`: in links and in the agents' login. */
  readonly publicUrl?: string | undefined;
}

export interface ServiceOptions extends RoutingOptions, AddressOptions {
  /** Directory in which everything but faults is kept. Default: nothing outlives the emulator. */
  readonly state?: string | undefined;
  /** If set, `Authorization: Bearer` with it is required on `/api` and `/v1`. */
  readonly token?: string | undefined;
  /**
   * What it begins with, in the place of what `state` has kept, and the snapshot `fixtures` from then on;
   * `docs/EMULATOR.md` shows the shape.
   */
  readonly fixtures?: unknown;
  /** A script of faults to begin with; its moments are counted from the start. `docs/EMULATOR.md` shows the shape. */
  readonly faults?: unknown;
  /** Bytes of each body that the request log keeps. Default 16 384; 0: none. */
  readonly keptBodyBytes?: number | undefined;
  /** Longest body after decompression. Default 1 GiB. */
  readonly bodyBytesMax?: number | undefined;
}

export interface EmulatorOptions extends ServiceOptions {
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** The ports that forks may listen at, the first and the last; they take the first that is free. Default: any free port. */
  readonly forkPorts?: readonly [first: number, last: number] | undefined;
  /** Milliseconds that the headers of a request may take; then its connection is ended. Default 30 000. */
  readonly headersTimeoutMs?: number | undefined;
}
