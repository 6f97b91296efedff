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
  return [texts, ...texts.map(wordsOf)].flatMap((words) => words.flatMap(secretsInWord));
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
  for (const [at, text] of command.entries()) {
    const words = /\s/.test(text) ? wordsOf(text) : [];
    const pairs = [[text, command[at + 1]] as const, ...words.map((word, index) => [word, words[index + 1]] as const)];
    for (const [word, next] of pairs) {
      const [what, secret] = plainSecretOf(word, next) ?? [];
      if (what === undefined || secret === undefined || isNoSecret.test(secret)) continue;
      found.set(text.includes(secret) ? at : at + 1, what);
      break;
    }
  }
  return found;
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
