/** One request as the request log shows it. */
export interface RequestRecord {
  /** Higher with every request. */
  readonly id: number;
  /** When it arrived, ISO 8601, UTC. */
  readonly at: string;
  readonly method: string;
  /** With the query. The values of parameters that may be secrets are shown as `***`. */
  readonly path: string;
  /** By lower-case names. Values that may be secrets are shown as `***`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body received, after decompression; 0 before its end. */
  bytes: number;
  /** sha256 (hex) of those bytes; null before their end. */
  sha256: string | null;
  /** null while there is no answer, and for ever if none is sent. */
  status: number | null;
  /** Whether the request has changed what the service holds. */
  applied: boolean;
  /** Drivers and points of an update, as far as it was understood; null for other requests. */
  counts: { readonly drivers: number; readonly points: number } | null;
}
