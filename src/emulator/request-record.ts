import type { ShownBody } from './kept-body.ts';

/** One request to the service. */
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
  readonly sha256: string | null;
  /** null while there is no answer, and for ever if none is sent. */
  status: number | null;
  /** Whether the change that it asks for was carried out, also one to what is held already. */
  applied: boolean;
  /** Drivers and points of an update, as far as it was understood; null for other requests. */
  counts: { readonly drivers: number; readonly points: number } | null;
  /** What was taken although it looks like a mistake. */
  warnings: readonly string[];
}

/** A record with the beginnings of its bodies, as the request log shows it. */
export interface LoggedRequest extends RequestRecord {
  /** After decompression; null if it is empty or nothing of it was received. */
  readonly requestBody: ShownBody | null;
  /** null if it is empty or no answer was sent. */
  readonly responseBody: ShownBody | null;
}
