/** Which planted bug breaks which rule of docs/RULES.md, and where else a rule is shown that no planted bug breaks. */

const ownTests = 'it has tests of its own';
const beforeRows = `histories parse no files, numbers and dates: ${ownTests}`;
const outside = `it is about what is not simulated: ${ownTests}`;

/** By the bold words of a rule: the names of bugs, or why there is none. */
export const plantsOfRules: Readonly<Record<string, readonly string[] | string>> = {
  'A value is decimal text from end to end.': ['a sum takes the last'],
  'Marks are declared and never guessed.': ['brackets are no minus'],
  'Marks are for texts.': beforeRows,
  '`missing` is compared with the trimmed text of the value.': beforeRows,
  'Cells of an xlsx are read to 15 significant digits.': beforeRows,
  '`sum` keeps the longest scale of its inputs; `average` is rounded half to even at that scale plus 6': [
    'a sum takes the last',
  ],
  'A month is a calendar month in `timezone`, not a moment.': ['a month is the one before'],
  'A month is pushed as one fixed moment, by default the 15th at 12:00 UTC.': outside,
  'Years outside 1000 to 9999 are rejects, and so are 13 digits where seconds were declared.': beforeRows,
  '`last` keeps the reading with the latest time.': ['the earlier of two readings counts'],
  'A part is as old as its content.': ['the earlier of two readings counts'],
  'Readings of one driver at one same time under `last` or `first` are counted and pointed out.': `it is a note and changes no number: ${ownTests}`,
  'Every collapse is a fold that merges.': ['a sum takes the last', 'only the new rows of a file that grew count'],
  'The source that has an id accepted keeps it; between two first reads the order of the config decides.': [
    'two sources may have one driver',
  ],
  'An id that moves is judged by the values that it had in the source that gives it up, and both sources wait for each other.':
    ['nobody waits for whoever takes its drivers', 'drivers that move are not compared'],
  'A source that left the config gives its drivers to a source that has them now': [
    'a removed source is dropped at once',
    'whoever takes over a removed source is not judged for it',
  ],
  'Two paths for one id: the path of the latest reading wins, and `check` and `status` say so.': `it changes no number: ${ownTests}`,
  'Watching only wakes; polling is the truth.': ['a part that has changed is not read again'],
  'A part is read whole, or not at all.': ['a read that failed half way counts'],
  'What cannot be read whole leaves the source unread.': [
    'any number of rejects is accepted',
    'a read that failed half way counts',
  ],
  'A delimited file has the same rows whoever reads it.': beforeRows,
  'A file that only grew is read from where its last read ended': [
    'only the new rows of a file that grew count',
    'what a file that grew was before is never proven',
    'a delete rests on what a file was before',
  ],
  'A text file that does not end with a line end may be half a file.': ['a file that was cut is whole'],
  'A part of the accepted read that disappears is carried.': [
    'a part that is gone is not carried',
    'a renamed part is carried too',
  ],
  'A read of a query is held where a file that the accepted read was made of is gone, and any number is another one or would go.':
    beforeRows,
  '`forget SOURCE` drops what that source carried when somebody asked for it, and no more.': `histories name the part that is to go: ${ownTests}`,
  'Agents that share a ledger give a file one name': outside,
  'Where a mapping names `{file}` or `{sheet}`, a part under another name is another part': beforeRows,
  'What comes from elsewhere counts only once all of it is here:': beforeRows,
  'Only what was accepted can be carried.': ['a renamed part is carried too'],
  'A source that adds up is held where a part that is new or changed has a point that a carried part has too':
    'a campaign reaches it ("counted twice"), and no bug in it was planted yet',
  "A source is held where it carries what was read by other settings than today's.": `settings of a source do not change in a history: ${ownTests}`,
  'What a snapshot does not say about a part is never guessed.': [
    'an unread source is left out after a loss of the buffer',
  ],
  'Two files of one content in a source that adds up are a warning,': `it is a note and changes no number: ${ownTests}`,
  'With `parts: newest` a file that has the content of an older one, while others came between them, is a warning,': `it is a note and changes no number: ${ownTests}`,
  'A file is one part, however many names lead to it.': outside,
  'A file with a header and no rows is a whole file that is empty': ['an empty read is accepted'],
  'A part that is a file of the agent itself is refused, whatever link leads there:': outside,
  'Patterns of the config run in linear time, and memory is bounded by bytes.': outside,
  'Nothing is deleted without evidence.': [
    'the guard counts drivers only',
    'the guard never looks at shares',
    'the floor covers everything',
    'deletes of the same day are not added up',
  ],
  'In 30 days no more than three times as much may go, of what there was at their beginning.': [
    'three times the share may go in a day',
    'what went more than a day ago never counts',
  ],
  'Some reads are held whatever the share:': [
    'an empty read is accepted',
    'more rejects are no reason',
    'the oldest months may go',
    'a month between others may go',
    'a replica that lags is believed',
  ],
  'A read that begins within its oldest month is held:': ['a read may begin within a month that was whole'],
  'A reject that stands in an export is no news after a rollback, a lost buffer or another key.': `a hold that is not needed has its reason, which no promise forbids: ${ownTests}`,
  'A held source goes on with its accepted data while every other source moves on.': [
    'what is held stays held, whatever is approved',
  ],
  'An approval is for what was seen.': [
    'an approval covers whatever comes',
    'an approval covers whatever a newer read deletes',
    'an approval that was used covers the next read too',
  ],
  'What was approved as a move is no approval to delete.': `histories approve few moves: ${ownTests}`,
  'The first push to an address waits until every source was accepted once.': ['the first push waits for nobody'],
  'What pushes that deleted nothing have left at an address is judged before a push deletes it.': [
    'what pushes that deleted nothing have left goes unjudged',
  ],
  'An empty snapshot is sent only where an approved candidate empties it.': ['an empty snapshot needs no approval'],
  'With `shouldDeleteMissing: false` nothing is ever deleted,': [
    'a snapshot deletes what it leaves out, whatever the config says',
  ],
  'A read that would replace an accepted one is compared with it value by value, and held where a slip is plain to see':
    ['slips are seen and hold nothing', 'readings that are gone are not counted'],
  'A driver that went and comes back within 30 days is compared with what the service had of it last,': [
    'what went is not compared where nothing is deleted',
  ],
  'A month up to `lastClose` is closed,': ['no month is ever closed'],
  'An approval covers what was found, and nothing that reaches further.': `histories hardly meet it: ${ownTests}`,
  'Points later than the month after `lastClose` are a warning in a source that says `actuals: true`.': `it is a note and changes no number: ${ownTests}`,
  'One push at a time, always the newest snapshot, and never an older one after a newer one.': [
    'a second push is begun beside the first',
    'the last push is not told from the newest',
    'a schedule time that was missed never comes',
    'new data is no change',
    'whether a push is due is told by two looks at the clock',
  ],
  'An equal snapshot is not sent again': `one that is sent again breaks no promise: ${ownTests}`,
  'A push that may have been taken is followed at once only by the same bytes.': [
    'an unknown push is followed at once',
    'a push that followed an open one is not repeated',
    'an older snapshot is repeated',
  ],
  'Refused is not repeated; unreachable and unknown are': [
    'a push that did not arrive is not tried again',
    'nobody expects a service that is busy',
  ],
  'An answer has ten times `timeout` in all.': outside,
  'A snapshot is never split.': outside,
  'A rollback pushes the very bytes that were acknowledged, and nothing else is pushed': [
    'a rollback ends with the next pass',
    'a rollback ends with the term in which it was made',
  ],
  'Acknowledged snapshots are kept for `keep`:': outside,
  'A buffer that is lost is rebuilt from the sources, and the last acknowledged snapshot stands for what cannot be read.':
    ['an unread source is left out after a loss of the buffer'],
  'Every push, approval, rollback and forget is a record, and each record carries the sha256 of its content and of the one before.':
    outside,
  'Any changed byte of a record or of an archived snapshot is found and named:': outside,
  'A file of the archive is recorded before it gets its name and before it is removed.':
    'crash states of a real disk look for it (`test/proof/crash-states.e2e.test.ts`)',
  'A decision keeps who took it and why:': outside,
  'Everything in the state directory is for its user alone,': outside,
  'One agent on a state directory.': outside,
  'A crash at any moment leaves a state that the next pass goes on from.':
    'no bug was planted: every history is killed at its writes, and so are real processes (`test/proof/kills.e2e.test.ts`)',
  'The watchdog is fed by the loop alone,': outside,
  'A full disk does not end the daemon, and commands that only look answer on it.':
    'no bug was planted: histories have full disks, and so has `test/proof/faults.e2e.test.ts`',
  'All output reaches a reader, however slowly it reads, and text from data stays on its line.': outside,
  'What is wrong is told once when it starts and once when it is over,': outside,
  'A notice is on disk before it is sent and until it was delivered.': outside,
  'Telling delays and fails no pass.': outside,
  'Nothing is sent to a mail server that does not encrypt,': outside,
  '`stale` asks whether the service has everything,': outside,
  'One agent leads, and it alone pushes.': [
    'an agent trusts in its term for longer than it lasts',
    'a follower looks rarely who leads',
  ],
  'All go by the clock of the database,': outside,
  'The last bytes of a push are kept back until its term was confirmed again.': [
    'the last bytes go without a confirmation',
  ],
  'Whoever takes over goes on from what was pushed,': [
    'a successor does not wait for what may still land',
    'an agent that takes over goes on from what it had seen itself',
    'an agent that takes over keeps what it accepted while it followed',
    'deletes that another machine let through do not count',
    'whoever takes over forgets all deletes',
    'a follower takes no rollback for what was pushed',
  ],
  'Whoever has seen the last push takes over without a cold read:': outside,
  'Without the ledger nothing is pushed, and reading goes on:': ['a ledger that fails ends an agent'],
  'A machine that sees other data than the one that leads says so before it ever leads:': outside,
  'Whoever leads brings the tables up to date, and nobody else.': outside,
  'After a promotion, in another cluster, or where records are gone, the next push waits for approval.':
    'promotions are not simulated: a real PostgreSQL is promoted (`test/machine/patroni`)',
  'Who lost the lead does not lead again before what it had begun has ended.':
    'no bug in it was planted yet: machines lose the lead and win it again in histories',
  'The ledger keeps the same records on SQLite and on PostgreSQL,': outside,
};

/** As `docs/HISTORIES.md` has it. */
export function rulesTable(): string {
  const rows = Object.entries(plantsOfRules).map(([rule, plants]) => {
    const shown = typeof plants === 'string' ? `– ${plants}` : plants.join('; ');
    return `| ${rule.replace(/[:,.]$/, '')} | ${shown} |`;
  });
  return ['| rule | bugs that break it |', '|---|---|', ...rows].join('\n');
}

/** The bold words that begin each rule of a page, in its order. */
export function rulesOf(page: string): readonly string[] {
  return [...page.matchAll(/^\*\*(.+?)\*\*/gms)].map(([, words = '']) => words.replaceAll('\n', ' '));
}
