/** What the request log shows of one request. */
export interface RequestRecord {
  /** Rises with every request. */
  readonly id: number;
  /** When it arrived, ISO 8601, UTC. */
  readonly at: string;
  readonly method: string;
  /** With the query. The values of parameters that may be secrets are shown as `***`. */
  readonly path: string;
  /** Lower-case names. What may be a secret is shown as `***`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of the body after decompression, as far as it was received; 0 before its end. */
  bytes: number;
  /** sha256 (hex) of those bytes; null before their end. */
  sha256: string | null;
  /** null: no answer yet, or none at all. */
  status: number | null;
  /** Whether the request has changed what the service holds. */
  applied: boolean;
  /** Area B: what the update holds, as far as it was understood; null for other requests. */
  counts: { readonly drivers: number; readonly points: number } | null;
}
