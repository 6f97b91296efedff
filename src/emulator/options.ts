/**
 * How an emulator is started. The package exports these types, so neither they nor what they import may name a type of
 * better-sqlite3: its types are no dependency of the package.
 */

export interface RoutingOptions {
  /** How fast time goes; default 1: a task takes about 5 s. 0: it stands still until it is advanced. */
  readonly speed?: number | undefined;
  /** The balance; default: that of the state, or else 100 000. */
  readonly credits?: number | undefined;
  /** 1 to 5: its concurrency, and its daily caps. Default: the concurrency of tier 1, and no caps. */
  readonly tier?: number | undefined;
  /**
   * A catalog, or changes of the built-in one, as JSON gives it; `docs/EMULATOR.md` shows the shape. Default: that of the
   * state, or else the built-in one.
   */
  readonly catalog?: unknown;
  /** The live service's manners. */
  readonly strict?: boolean | undefined;
}

export interface AddressOptions {
  /** The address to listen at. Default 127.0.0.1. */
  readonly host?: string | undefined;
  /** Further origins, such as `https://emulator.example.com`, of a proxy or of pages that may send requests. */
  readonly origins?: readonly string[] | undefined;
}

export interface ServiceOptions extends RoutingOptions, AddressOptions {
  /** Directory that everything but faults is kept in. Default: nothing outlives the emulator. */
  readonly state?: string | undefined;
  /** Then `Authorization: Bearer` is required on `/api` and `/v1`. */
  readonly token?: string | undefined;
  /** Longest body after decompression. Default 1 GiB. */
  readonly bodyBytesMax?: number | undefined;
}

export interface EmulatorOptions extends ServiceOptions {
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** How long the headers of a request may take, in milliseconds; then its connection is ended. Default 30 000. */
  readonly headersTimeoutMs?: number | undefined;
}
