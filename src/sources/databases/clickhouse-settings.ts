/**
 * Settings of ClickHouse that every statement needs, whatever the profile of the user says. A server that has no such setting
 * is not asked for it.
 */
import { AgentError } from '../../core/errors.ts';

/** A result that is cut, approximate or written otherwise would be taken for all of it. */
const needed: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'read read_leaf group_by sort result timeout timeout_leaf set join transfer distinct'
      .split(' ')
      .map((what) => [what.replace(/(_leaf)?$/, '_overflow_mode$1'), 'throw']),
  ),
  limit: '0',
  offset: '0',
  extremes: '0',
  skip_unavailable_shards: '0',
  distributed_group_by_no_merge: '0',
  partial_result_on_first_cancel: '0',
  enable_http_compression: '0',
  output_format_tsv_crlf_end_of_line: '0',
  format_tsv_null_representation: String.raw`\N`,
  date_time_output_format: 'simple',
};

/**
 * The order of a query stays inside another. A decimal has all digits of its type. A reader that is busy with its rows has an hour, and
 * a statement a day, so that nothing runs for ever after an agent was killed; a server that sees the connection end ends the query.
 */
const wished: Readonly<Record<string, string>> = {
  output_format_decimal_trailing_zeros: '1',
  query_plan_remove_redundant_sorting: '0',
  optimize_duplicate_order_by_and_distinct: '0',
  use_query_cache: '0',
  http_send_timeout: '3600',
  max_execution_time: '86400',
  cancel_http_readonly_queries_on_client_close: '1',
};

const names = ['readonly', ...Object.keys(needed), ...Object.keys(wished)];

/** A statement takes these for itself: it reads 0 whatever they are, and only sees that somebody set them. */
const taken = ['limit', 'offset'] as const;
const isSet = '?';

/** Asks for the present values, in one row, which no limit cuts. */
export const settingsQuery = `SELECT arrayStringConcat(groupArray(concat(name, '\\t', if(name IN (${listed(taken)}) AND changed, '${isSet}', value))), '\\n')
FROM system.settings WHERE name IN (${listed(names)}) FORMAT TabSeparatedRaw`;

/** The answer to `settingsQuery`; empty where it is none. */
export function parseSettings(said: string): ReadonlyMap<string, string> {
  const lines = said.split('\n').map((line) => line.split('\t'));
  return new Map(lines.flatMap(([name = '', value]) => (value === undefined ? [] : [[name, value] as const])));
}

function listed(texts: readonly string[]): string {
  return texts.map((text) => `'${text}'`).join(', ');
}

/**
 * What to send with every statement.
 * @param present the server's own values, by name
 * @throws AgentError `source.unreadable` where the user may set nothing, and the profile says otherwise
 */
export function settingsToSend(present: ReadonlyMap<string, string>, place: string): Readonly<Record<string, string>> {
  const isLocked = !maySet(present);
  const send: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...needed, ...wished })) {
    const is = present.get(name);
    if (is === undefined || is === value || (name === 'max_execution_time' && is !== '0')) continue;
    if (!isLocked) send[name] = value;
    else if (name in needed) throw lockedError(place, name, is, value);
  }
  // It may read and set the settings above, and nothing else.
  if (present.get('readonly') === '0') send['readonly'] = '2';
  return send;
}

/** Whether the user may change a setting. */
export function maySet(present: ReadonlyMap<string, string>): boolean {
  return present.get('readonly') !== '1';
}

function lockedError(place: string, name: string, is: string, value: string): AgentError {
  const [says, say] =
    is === isSet
      ? [`sets ${taken.join(' or ')}`, `leave ${taken.join(' and ')} out`]
      : [`says ${name} = ${is}`, `say ${name} = ${value}`];
  return new AgentError('source.unreadable', `${place}: the profile of the user ${says}`, {
    hint: `${say} there, or say readonly = 2, with which the agent may set it itself`,
  });
}
