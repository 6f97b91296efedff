/** A notice as those who get it want it. */
import type { HookFormat } from '../../core/settings.ts';
import type { Notice } from '../../core/telling/notice.ts';

/** The JSON that a hook is sent. */
export function hookBody(notice: Notice, format: HookFormat): string {
  return JSON.stringify(bodies[format](notice));
}

const bodies: Readonly<Record<HookFormat, (notice: Notice) => object>> = {
  json: (notice) => notice,
  slack: (notice) => ({ text: slackText(notice) }),
  teams: (notice) => ({
    type: 'message',
    attachments: [
      { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content: teamsCard(notice) },
    ],
  }),
};

export interface Letter {
  readonly subject: string;
  readonly text: string;
}

export function mailText(notice: Notice): Letter {
  const { text, hint, digest, at, host, address } = notice;
  const facts = [`since    ${at}`, `machine  ${host}`, `service  ${address}`];
  return {
    subject: `driver-sync on ${host}: ${headline(notice)}`,
    text: [
      text,
      ...(hint === undefined ? [] : [hint]),
      '',
      ...facts,
      ...(digest === undefined ? [] : [`digest   ${digest}`]),
      '',
    ].join('\n'),
  };
}

/** What it is about, in a few words. */
function headline({ event, state, source, machine }: Notice): string {
  const over = state === 'ended';
  const name = source?.startsWith('(') === true ? source.slice(1, -1) : `source ${source}`;
  switch (event) {
    case 'held':
      return over ? `${name} is not held any more` : `${name} is held`;
    case 'unread':
      return over ? `${name} is read again` : `${name} is not read`;
    case 'refused':
      return over ? 'pushes are not refused any more' : 'a push was refused';
    case 'unreachable':
      return over ? 'the service is reached again' : 'the service is not reached';
    case 'stale':
      return over ? 'the service is up to date again' : 'nothing was acknowledged for too long';
    case 'broken':
      return over ? 'passes end again' : 'a pass broke';
    case 'differs':
      return over ? `${machine} does not differ any more` : `${machine} sees other data`;
    case 'test':
      return 'a test message';
  }
}

const marks = { started: '\u26a0\ufe0f', ended: '\u2705' } as const;

/** Slack reads `<…>` as a link or a mention, and `&` as the start of an entity. Nothing else of it is a command. */
function slackText(notice: Notice): string {
  const { text, hint, host } = notice;
  const lines = [`${markOf(notice)}*driver-sync on ${host}: ${headline(notice)}*`, text, ...(hint ? [hint] : [])];
  return lines.join('\n').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Runs of text, which Teams shows as they are: a text block would read the Markdown in them, with its links. */
function teamsCard(notice: Notice): object {
  const { text, hint, at, host, address } = notice;
  const block = (line: string, look: object = {}): object => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text: line, ...look }],
  });
  return {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.2',
    body: [
      block(`${markOf(notice)}driver-sync on ${host}: ${headline(notice)}`, { weight: 'Bolder', size: 'Medium' }),
      block(text),
      ...(hint === undefined ? [] : [block(hint)]),
      block(`${at}, ${address}`, { isSubtle: true, size: 'Small' }),
    ],
  };
}

function markOf({ event, state }: Notice): string {
  return event === 'test' ? '' : `${marks[state]} `;
}
