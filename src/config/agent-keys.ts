/** The keys of the agent itself: everything but the sources. */
import { z } from 'zod';
import type { LastClose } from '../core/settings.ts';
import { parseMonth } from '../core/time/month.ts';
import { noticeEvents } from '../core/telling/notice.ts';
import { parseSmtp } from '../core/telling/smtp.ts';
import { hasReadableUser, isHeaderText, isToken } from '../http/credentials.ts';
import {
  anyText,
  cron,
  duration,
  durationOrOff,
  filePath,
  limit,
  monthOr,
  positiveDuration,
  scalar,
  size,
  textOf,
  timezone,
} from './scalars.ts';

/** The address of a hook, all of it a secret. */
const hookUrl = scalar<string>({ type: 'string', examples: ['${HOOK}'] }, (written) => {
  const address = typeof written === 'string' ? URL.parse(written) : null;
  if (address !== null && /^https?:$/.test(address.protocol) && hasReadableUser(address))
    return { value: address.href };
  return { diagnostic: { message: 'expected an http or https address', hint: 'such as https://hooks.example.com/…' } };
});

const dayWords = 'expected a day from 1 to 28, which every month has';

export const rootShape = {
  state: filePath
    .describe(
      'The directory for the buffer, the ledger and the acknowledged snapshots. Default: `.driver-sync` beside the config file.',
    )
    .optional(),
  timezone: timezone.prefault('UTC').describe('Decides which month a moment belongs to, and the hours of `schedule`.'),
  schedule: cron
    .prefault('15 2 * * *')
    .describe('When a full snapshot is pushed: a cron expression of five fields, or six with seconds.'),
  pushOnChange: durationOrOff.prefault('off').describe('Also push this long after the last change.'),
  refresh: duration.prefault('20h').describe('An equal snapshot is pushed again after this long.'),
  keep: duration
    .prefault('400d')
    .describe('How long acknowledged snapshots are kept: all of 7 days, then the last of each day.'),
  keepMax: size
    .prefault('10GB')
    .describe('Acknowledged snapshots take at most this much space; the last one is always kept.'),
  lastClose: z
    .union(
      [
        monthOr('or write { day: 10 }: each month then closes on the 10th of the next').transform(
          (written): LastClose => ({ kind: 'month', month: parseMonth(written) as number }),
        ),
        z
          .strictObject({
            day: z
              .int()
              .min(1, { error: dayWords })
              .max(28, { error: dayWords })
              .describe('The day of a month on which the month before it closes, in `timezone`.'),
          })
          .transform(({ day }): LastClose => ({ kind: 'day', day })),
      ],
      { error: 'expected a month such as 2026-03, or { day: 10 }' },
    )
    .optional()
    .describe(
      'Months up to this one are closed: a read that changes a point in them is held, whatever `guard.values` says. A month such as `2026-03`, or `{ day: 10 }`, which closes a month on the 10th of the next. Default: no month is closed.',
    ),
  heartbeat: hookUrl
    .optional()
    .describe(
      'An address that is fetched after every pass that left the service right (exit 0), so that somebody else notices when the agent is gone. As secret as a password: best from the environment.',
    ),
  workers: z
    .int()
    .min(0)
    .max(64)
    .optional()
    .describe(
      'How many threads read a large file of delimited text or JSON lines (16 MB and more) at once. Each takes some 40 MB of memory. Default: from 64 MB on as many as there are cores, at most 4, and none on one core; 0: the main thread reads. A file with `fillDown` takes one.',
    ),
};

/** An address without its trailing slashes. Diagnostics do not show it: it may hold a password. */
const url = scalar<string>({ type: 'string', examples: ['https://drivers.example.com'] }, (written) => {
  const address = typeof written === 'string' ? URL.parse(written) : null;
  const refuse = (message: string, hint: string): { diagnostic: { message: string; hint: string } } => ({
    diagnostic: { message, hint },
  });
  if (address === null || !/^https?:$/.test(address.protocol)) {
    return refuse('expected an http or https address', 'such as https://drivers.example.com');
  }
  if (address.username !== '' || address.password !== '') {
    return refuse('credentials in the address', 'remove them and use token or tokenFile');
  }
  if (/[?#]/.test(String(written))) return refuse('a query or fragment in the address', 'end it before "?" or "#"');
  const base = `${address.origin}${address.pathname}`.replace(/\/+$/, '');
  if (base.endsWith('/api/extDrivers/update')) {
    return refuse('/api/extDrivers/update in the address', 'leave it out: the agent appends it');
  }
  return { value: base };
});

const token = scalar<string>({ type: 'string', examples: ['${DRIVERS_TOKEN}'] }, (written) => {
  const said = written === null ? '' : textOf(written);
  if (said === undefined) return { diagnostic: { message: 'the token is not a text', hint: 'put it in quotes' } };
  if (said.trim() === '') return { diagnostic: { message: 'the token is empty', hint: 'set it, or remove the key' } };
  if (isToken(said)) return { value: said };
  return {
    diagnostic: {
      message: 'the token has a character that tokens cannot have',
      hint: 'look for white space or line ends',
    },
  };
});

const header = anyText.refine(isHeaderText, 'a line end or another character that headers cannot have');

export const destinationShape = {
  url: url.describe('The address of the service. `/api/extDrivers/update` is appended.'),
  token: token.optional().describe('Sent as `Authorization: Bearer`. Best from the environment: `${DRIVERS_TOKEN}`.'),
  tokenFile: filePath
    .optional()
    .describe(
      'A file that holds the token instead. It is read again when the service refuses the token, so it may be renewed.',
    ),
  headers: z.record(z.string(), header).prefault({}).describe('Further headers of every push.'),
  shouldDeleteMissing: z
    .boolean()
    .default(true)
    .describe(
      'Whether the service deletes what a snapshot leaves out. With `false` nothing is ever deleted. The first push after a change from `false` to `true` counts as a first push (`guard.firstPush`): it deletes all that is not in it. What earlier pushes have left there is counted, and waits for approval where it is more than `guard.maxDeletes` or in a closed month.',
    ),
  timeout: positiveDuration
    .prefault('60s')
    .describe(
      'A push that moves no byte for this long has failed, and so has one whose answer has not ended after ten times as long.',
    ),
  compress: z.enum(['none', 'gzip']).default('none').describe('How a push is compressed.'),
  stamp: z
    .enum(['start', 'middle', 'end'])
    .default('middle')
    .describe('The moment that stands for a month, in UTC: its first second, the 15th at 12:00, or its last second.'),
  caFile: filePath
    .optional()
    .describe('A PEM file of further certificate authorities, for a service behind a private one.'),
};

export const valueGuard = z.enum(['hold', 'warn', 'off']);

export const guardShape = {
  maxDeletes: limit
    .prefault('10%')
    .describe(
      "How many of a source's accepted drivers, and of its points, a read may delete: a share or a count. `100%` is no limit, also not for what goes in several reads.",
    ),
  floor: z
    .int()
    .min(0)
    .default(5)
    .describe('Up to this many deleted drivers or points are never too large a share, unless they are more than half.'),
  maxRejects: limit
    .optional()
    .describe(
      'How many of the rows of a part may be rejects: a share or a count. Beyond it the part is not accepted. Default: `1%`, and `0` for a source with a `sum`, `average` or `count`.',
    ),
  firstPush: z
    .enum(['allow', 'approve'])
    .default('allow')
    .describe('Whether the first push to an address waits until its plan is approved.'),
  values: valueGuard
    .default('hold')
    .describe(
      'What becomes of a read whose values look like a slip (a factor of 1000, another sign, months that moved; see RULES.md): it is held, or accepted with a warning, or its values are not looked at.',
    ),
};

const mailbox = scalar<string>({ type: 'string', examples: ['finance@example.com'] }, (written) => {
  const said = textOf(written)?.trim() ?? '';
  if (/^[^\s@<>,;:"()]+@[^\s@<>,;:"()]+$/.test(said)) return { value: said };
  return { diagnostic: { message: 'expected an e-mail address', hint: 'such as finance@example.com' } };
});

const smtp = scalar<string>({ type: 'string', examples: ['${SMTP_URL}'] }, (written) => {
  const said = textOf(written)?.trim() ?? '';
  const server = parseSmtp(said);
  return 'problem' in server ? { diagnostic: { message: server.problem, hint: server.hint } } : { value: said };
});

export const notifyShape = {
  url: hookUrl
    .optional()
    .describe('The address of a web hook, which gets a POST. As secret as a password: best from the environment.'),
  format: z
    .enum(['json', 'slack', 'teams'])
    .optional()
    .describe('What the hook is sent: a JSON notice, a message for Slack, or a card for Teams. Default: `json`.'),
  email: z.array(mailbox).min(1).optional().describe('Who gets an e-mail instead.'),
  smtp: smtp
    .optional()
    .describe(
      'The mail server: `smtps://USER:PASSWORD@HOST` or `smtp://HOST:587`. Nothing is sent without TLS, except to this machine or where the address ends with `?tls=none`.',
    ),
  from: mailbox
    .optional()
    .describe(
      'The sender of e-mails. Default: the user of the mail server, or `driver-sync@` and the name of this machine.',
    ),
  on: z
    .array(z.enum(noticeEvents))
    .min(1)
    .default([...noticeEvents])
    .describe('What is told. Default: all of it.'),
  caFile: filePath
    .optional()
    .describe('A PEM file of further certificate authorities, for a receiver behind a private one.'),
};

/** A host and a port. */
export interface Listen {
  readonly host: string;
  readonly port: number;
}

const listen = scalar<Listen>({ type: 'string', examples: ['127.0.0.1:9464'] }, (written) => {
  const said = textOf(written)?.trim() ?? '';
  const refuse = (message: string, hint: string): { diagnostic: { message: string; hint: string } } => ({
    diagnostic: { message, hint },
  });
  if (/^(?:\.{0,2}\/|unix:)/.test(said)) {
    return refuse(
      'a socket path, and the status page listens at a port',
      'write 127.0.0.1:9464: a proxy finds it there',
    );
  }
  if (/^(?:\*:|:|0:)?\d+$/.test(said)) {
    return refuse('the host is missing', 'write 127.0.0.1:9464, or 0.0.0.0:9464 for every address of this machine');
  }
  const [, bracketed, plain, digits = ''] = /^(?:\[([\da-f:.]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(said) ?? [];
  const host = (bracketed ?? plain)?.toLowerCase();
  if (host === undefined) return refuse('expected a host and a port', 'such as 127.0.0.1:9464 or "[::1]:9464"');
  if (Number(digits) > 65_535) return refuse(`there is no port ${digits}`, 'the last one is 65535');
  return { value: { host, port: Number(digits) } };
});

const hostName = scalar<string>({ type: 'string', examples: ['status.example.com'] }, (written) => {
  const said = textOf(written)?.trim().toLowerCase() ?? '';
  if (/^(?:[\w-]+\.)*[\w-]+$/.test(said) || /^[\da-f:.]+$/.test(said)) return { value: said };
  return {
    diagnostic: {
      message: 'expected the name of a host',
      hint: 'without http:// and port, such as status.example.com',
    },
  };
});

export const statusShape = {
  listen: listen.describe(
    'Where the status page, `/livez`, `/readyz`, `/metrics` and `/api/status` are served, as host and port. Port 0 is any free one.',
  ),
  tokenFile: filePath
    .optional()
    .describe(
      'A file that holds a token. Then everything but `/livez` and `/readyz` asks for it: as `Authorization: Bearer`, or as the password in a browser. It is read again for each request, so it may be renewed.',
    ),
  hosts: z
    .array(hostName)
    .default([])
    .describe(
      'Further names by which the page is asked for, such as that of a proxy. Requests with any other name in `Host` are refused.',
    ),
};
