/** A request without an answer: the connection ends instead. */
export class ConnectionDropped extends Error {
  override readonly name = 'ConnectionDropped';
  /** What a client sees, too. */
  readonly code = 'ECONNRESET';

  constructor(reason: string, options?: ErrorOptions) {
    super(`the connection was dropped: ${reason}`, options);
  }
}
