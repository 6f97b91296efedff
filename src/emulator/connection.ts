/** Thrown when the connection ends without an answer to the request. */
export class ConnectionDropped extends Error {
  override readonly name = 'ConnectionDropped';
  /** The code that a client sees too. */
  readonly code = 'ECONNRESET';

  constructor(reason: string, options?: ErrorOptions) {
    super(`the connection was dropped: ${reason}`, options);
  }
}
