/** What the status page answers, before it is sent. */

export interface Ask {
  readonly path: string;
  readonly query: URLSearchParams;
}

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export function textAnswer(status: number, text: string): Answer {
  return { status, type: 'text/plain; charset=utf-8', body: `${text}\n` };
}

export function jsonAnswer(data: unknown, status = 200): Answer {
  return { status, type: 'application/json; charset=utf-8', body: `${JSON.stringify(data)}\n` };
}
