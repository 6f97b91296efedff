/** Structured log lines on pino: JSON for machines, coloured text for a terminal. */
import { createRequire } from 'node:module';
import type { DestinationStream, Logger, LoggerOptions } from 'pino';
import { isAgentError } from '../core/errors.ts';
import type { Log } from '../core/ports.ts';
import { visibleJson } from '../core/text.ts';

// `import 'pino'` reads many small files through the ESM loader; `require` takes about 17 ms, and only where something is logged.
const require = createRequire(import.meta.url);

export interface LogOptions {
  /** `trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. */
  readonly level: string;
  /** Lines for a person at a terminal. */
  readonly pretty: boolean;
  /** A file descriptor, or a stream that writes at once (stderr does). Data goes to stdout, so this is stderr. */
  readonly stream: number | NodeJS.WritableStream;
  /** Colour in pretty lines. Default: unless `NO_COLOR` is set. */
  readonly color?: boolean;
}

const secretKeys = ['token', 'authorization', 'Authorization', 'password', 'secret'];

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/**
 * Writes at once, without a worker, so that the last line before an exit is never lost. Times are ISO 8601 in UTC. pino is loaded
 * with the first line that the level lets through: most commands write none.
 */
export function openLog(options: LogOptions): Log {
  const least = levels.indexOf(options.level);
  let logger: Logger | undefined;
  const writer = (level: keyof Log): Log[keyof Log] => {
    if (levels.indexOf(level) < least) return () => undefined;
    return (message, fields) => {
      logger ??= openLogger(options);
      logger[level](fields, message);
    };
  };
  return { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') };
}

function openLogger({ level, pretty, stream, color = !process.env['NO_COLOR'] }: LogOptions): Logger {
  const { pino } = require('pino') as typeof import('pino');
  const options: LoggerOptions = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: describeError, cause: describeError },
    // Only a safety net: no caller passes a secret.
    redact: secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]),
  };
  return pino(options, pretty ? openPretty(stream, color) : openPlain(stream));
}

/** Text from data is JSON in either form of a line, so that no line break or escape sequence of it comes through. */
function openPlain(stream: number | NodeJS.WritableStream): DestinationStream {
  const sink = typeof stream === 'number' ? openDescriptor(stream) : stream;
  return { write: (line) => void sink.write(visibleJson(line)) };
}

function openDescriptor(fd: number): DestinationStream {
  const { destination } = require('pino') as typeof import('pino');
  const sink = destination({ fd, sync: true });
  // A closed pipe or a full disk under the log must not stop the pushes, and there is no other place to report it.
  sink.on('error', () => {});
  return sink;
}

function openPretty(stream: number | NodeJS.WritableStream, color: boolean): DestinationStream {
  const { prettyFactory } = require('pino-pretty') as typeof import('pino-pretty');
  const pretty = prettyFactory({
    colorize: color,
    translateTime: 'UTC:yyyy-mm-dd HH:MM:ss"Z"',
    ignore: 'pid',
    singleLine: true,
    // Errors are fields as all others: on a line of their own, their texts would not be JSON.
    errorLikeObjectKeys: [],
  });
  const plain = openPlain(stream);
  return { write: (line) => plain.write(pretty(line)) };
}

/** An expected failure is told in its own words; only a bug is logged with its stack. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (!isAgentError(error)) return { name: error.name, message: error.message, stack: error.stack };
  const { code, message, hint, cause } = error;
  return { code, message, ...(hint && { hint }), ...(cause instanceof Error && { cause: cause.message }) };
}
