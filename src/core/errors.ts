/**
 * Every failure that somebody foresaw, by code. The code decides the exit code and, for the loop, whether the same pass
 * is worth another try. Anything that is not an `AgentError` is a bug and ends the process with 1.
 */
const exits = {
  'config.missing': 78,
  'config.invalid': 78,
  'state.missing': 78,
  'state.lost': 78,
  'state.newer': 78,
  'state.older': 78,
  'state.unwritable': 78,
  'state.full': 75,
  'state.locked': 75,
  'state.corrupt': 75,
  'ledger.unreachable': 75,
  'ledger.refused': 78,
  'ledger.led': 75,
  'ledger.corrupt': 65,
  'snapshot.damaged': 65,
  'emulator.port': 75,
  'status.address': 78,
  usage: 64,
  'source.unreadable': 3,
  'source.timeout': 3,
  'part.unreadable': 3,
  'part.changing': 3,
  aborted: 75,
} as const;

export type ErrorCode = keyof typeof exits;

export interface ErrorDetails {
  readonly cause?: unknown;
  /** What to do about it, in one sentence without a full stop. */
  readonly hint?: string | undefined;
}

/** The one failure class: `message` says the fact and where, `hint` what to do. Never holds a secret. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.hint = details.hint;
  }

  /** The process's exit code when this failure ends a command. */
  get exit(): number {
    return exits[this.code];
  }
}

export function isAgentError(error: unknown, code?: ErrorCode): error is AgentError {
  return error instanceof AgentError && (code === undefined || error.code === code);
}
