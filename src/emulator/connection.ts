interface DropOptions extends ErrorOptions {
  readonly how?: 'closed' | 'reset';
}

/** Thrown when the connection ends without an answer to the request. */
export class ConnectionDropped extends Error {
  override readonly name = 'ConnectionDropped';
  /** The code that a client sees too. */
  readonly code = 'ECONNRESET';

  /** Whether the client sees the connection closed in order, or reset. */
  readonly how: 'closed' | 'reset';

  constructor(reason: string, { how = 'closed', ...options }: DropOptions = {}) {
    super(`the connection was dropped: ${reason}`, options);
    this.how = how;
  }
}
