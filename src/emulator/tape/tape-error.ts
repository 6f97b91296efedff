/** A recording that cannot be made or played. */
export class TapeError extends Error {
  override readonly name = 'TapeError';
  readonly hint: string;

  constructor(message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.hint = hint;
  }
}
