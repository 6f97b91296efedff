/** What may be secret among the arguments of a program, so that messages do not repeat it: also within a text that a shell reads. */
import { secretsIn } from '../../http/masking.ts';

/** Names whose values let somebody in. */
const secretName = /pass|pwd|secret|token|key|auth|credential|cookie/i;

/**
 * The value of an option, a variable or a header of such a name, user and password of `-u` and `--user`, what stands at `-p`, and what
 * an address has of it. Too much is no harm: a word that is none is masked where the program repeats it.
 * @param command the program and its arguments
 */
export function secretsInCommand(command: readonly string[]): readonly string[] {
  const texts = command.slice(1);
  const short = [command, ...texts.map(wordsOf)].flatMap(inPlaces).flatMap((one) => shortPassword(one)?.[1] ?? []);
  return [...short, ...[texts, ...texts.map(wordsOf)].flatMap((words) => words.flatMap(secretsInWord))];
}

/** Whole names of options, variables and headers whose value is a secret, and not the file that holds one. */
const secretOption =
  /(?:^|[-_.])(?:pass(?:word|wd|phrase)?|pwd|secret|token|api-?key|access-?key|authorization|cookie)$|PASSWORD$|^PGPASS$/i;
/** What a shell fills in itself, a file to read, or a question to a person. */
const isNoSecret = /^(?:$|[$@<`*-])/;

/**
 * Where arguments hold secrets that are plain to see, and in words what. Other than what messages hide, each of these is told to a
 * person, so it is only what can hardly be anything else.
 */
export function plainSecretsInCommand(command: readonly string[]): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const [at, placed] of inPlaces(command).entries()) {
    const text = placed.word;
    const words = /\s/.test(text) ? inPlaces(wordsOf(text)) : [];
    for (const one of [placed, ...words]) {
      const [what, secret] = plainSecretOf(one.word, one.next) ?? shortPassword(one) ?? [];
      if (what === undefined || secret === undefined || isNoSecret.test(secret)) continue;
      found.set(text.includes(secret) ? at : at + 1, what);
      break;
    }
  }
  return found;
}

/** How a program takes a password in an option of one letter. */
interface PasswordOption {
  readonly letter: string;
  /** The password may also be the next word. */
  readonly takesNext: boolean;
}

const ofMysql = { letter: 'p', takesNext: false };
const passwordOptions: ReadonlyMap<string, PasswordOption> = new Map([
  ...['mysql', 'mariadb', 'mysqldump', 'mariadb-dump', 'mysqladmin'].map((name) => [name, ofMysql] as const),
  ...['sshpass', 'mongo', 'mongosh', 'mongoexport'].map((name) => [name, { letter: 'p', takesNext: true }] as const),
  ...['sqlcmd', 'bcp'].map((name) => [name, { letter: 'P', takesNext: true }] as const),
  ['redis-cli', { letter: 'a', takesNext: true }],
  ['ldapsearch', { letter: 'w', takesNext: true }],
]);

function passwordOptionOf(word: string): PasswordOption | undefined {
  return passwordOptions.get(word.replace(/^.*[/\\]/s, '').replace(/\.exe$/i, ''));
}

interface Placed {
  readonly word: string;
  readonly next: string | undefined;
  /** Of the last program before it that is known to take a password in one letter. */
  readonly option: PasswordOption | undefined;
}

function inPlaces(words: readonly string[]): readonly Placed[] {
  let option: PasswordOption | undefined;
  return words.map((word, at) => {
    option = passwordOptionOf(word) ?? option;
    return { word, next: words[at + 1], option };
  });
}

/** `mysql -pPASSWORD`. Another program behind it may have a number there, such as a port. */
function shortPassword({ word, next = '', option }: Placed): readonly [what: string, secret: string] | undefined {
  if (option === undefined || !word.startsWith(`-${option.letter}`)) return undefined;
  const secret = word.length > 2 ? word.slice(2) : option.takesNext ? next : '';
  return /^\d{0,5}$/.test(secret) ? undefined : [`the password at -${option.letter}`, secret];
}

/** What may be a secret at a word of a command line, and the text of it. */
function plainSecretOf(word: string, next = ''): readonly [what: string, secret: string] | undefined {
  const [, name = '', value] = /^(-{0,2}[A-Za-z][\w.-]*)(?:[=:]\s*(.*))?$/s.exec(word) ?? [];
  if (secretOption.test(name)) {
    const isOption = name.startsWith('-');
    if (value === undefined && !isOption) return undefined;
    return [isOption ? `the value of ${name}` : `the ${name}`, valueOfHeader(value ?? next)];
  }
  const login = /^(?:-u|--user|--proxy-user)$/.test(name) ? (value ?? next) : '';
  if (/^[^:\s]+:./.test(login)) return [`the password at ${name}`, afterColon(login)];
  const address = /[a-z][a-z\d+.-]*:\/\/[^\s/:@'"]*:([^\s/@'"]+)@/i.exec(word);
  return address === null ? undefined : ['the password of the address', address[1] ?? ''];
}

function secretsInWord(word: string, at: number, words: readonly string[]): readonly string[] {
  const [, name = '', mark = '', value = ''] = /^-{0,2}([\w.-]+)(?:([=:])\s*(.+))?$/s.exec(word) ?? [];
  const [, short = ''] = /^-p(.+)$/s.exec(word) ?? [];
  const follows = mark === '' && word.startsWith('-') ? (words[at + 1] ?? '') : value;
  const named = secretName.test(name) ? [follows, valueOfHeader(follows)] : [];
  const login = /^(?:-u|--user|--proxy-user)(?:=|$)/.test(word) ? [follows, afterColon(follows)] : [];
  const addresses = word.match(/[a-z][a-z\d+.-]*:\/\/[^\s'"`]+/gi) ?? [];
  return [short, ...named, ...login, ...addresses.flatMap(secretsOfAddress)];
}

/** `Bearer …` and `Basic …`: the word before is no secret, and stands in many messages. */
function valueOfHeader(text: string): string {
  return text.replace(/^(?:bearer|basic|token)\s+/i, '');
}

function afterColon(text: string): string {
  return text.slice(text.indexOf(':') + 1);
}

function secretsOfAddress(text: string): readonly string[] {
  const url = URL.parse(text);
  return url === null || url.host === '' ? [] : secretsIn(url);
}

/** The words of a text as a shell parts them, without their quotes: `--password 'two words'` has two. */
function wordsOf(text: string): readonly string[] {
  const words = text.match(/(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^\s;&|()<>'"\\]|['"\\])+/gs) ?? [];
  return words.map((word) => word.replaceAll(/\\(.)|'([^']*)'|"((?:\\.|[^"\\])*)"/gs, '$1$2$3'));
}
