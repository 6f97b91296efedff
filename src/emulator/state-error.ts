/** A state directory that cannot be used: the fact and why. */
export class StateError extends Error {
  override readonly name = 'StateError';
  /** The code of the system or of SQLite, such as `EEXIST` or `SQLITE_NOTADB`; `held` if another emulator has it. */
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, { hint, cause }: { readonly hint: string; readonly cause?: unknown }) {
    super(message, { cause });
    this.code = code;
    this.hint = hint;
  }
}
