/** A config for the eyes of others: what may be secret is masked, and what must not be seen anywhere else is told. */
import { parseDocument, stringify } from 'yaml';
import { mask, secretsIn } from '../http/masking.ts';
import { substitute } from './environment.ts';
import { secretSections } from './secret-sections.ts';

export interface MaskedConfig {
  /** YAML without comments, with `***` for what may be secret. Variables stand as they are written. */
  readonly text: string;
  /** The texts that were masked, as they are once variables are filled in. */
  readonly secrets: readonly string[];
  /** Files that hold secrets, as they are written. */
  readonly secretFiles: readonly string[];
  /** The variables that it names. */
  readonly variables: readonly string[];
}

/** Keys whose values say nothing secret, whatever their section. Any other key is masked: what a new kind brings, too. */
const plainKeys = new Set(
  `state timezone schedule pushOnChange guard maxDeletes floor maxRejects firstPush values lastClose day refresh keep keepMax workers
   status listen shouldDeleteMissing timeout stamp compress caFile tokenFile on format defaults
   type files encoding delimiter skipRows skipUntil headerRows columns footer comment settle poll timeout parts lineEnd removed history
   actuals mayBeEmpty missing fillDown unpivot name value fiscalYear startsIn namedAfter calendar file from to id path time locale collapse
   spread decimal group mark sizes accounting scale negate round items rows sheet memoryMax expandedMax pushdown changed table
   settings modalities routers context createdAt pipeline`
    .split(/\s+/)
    .filter((key) => key !== ''),
);

/** Everything beneath these is shown. */
const plainSections = new Set([
  'drivers',
  'where',
  'maps',
  'guard',
  'unpivot',
  'fiscalYear',
  'missing',
  'columns',
  'files',
]);

/** Keys whose value is one text, and secret. */
const isSecretKey = /^(token|password|passphrase|clientSecret|secretAccessKey|sessionToken|smtp)$/;

/** Names of variables that mostly hold secrets. */
const secretName = /TOKEN|SECRET|PASS|PWD|KEY|URL|URI|HOOK|DSN|AUTH|CRED|PING|SMTP|COOKIE|SESSION/i;
/** A shorter value of the environment is no secret worth the name, and would garble every text. */
const secretMin = 6;

export function maskConfig(text: string, env: NodeJS.ProcessEnv): MaskedConfig {
  const document = parseDocument(text, { merge: true, prettyErrors: false });
  const found = new Found(env);
  if (document.errors.length > 0) return { text: '# the config is no YAML\n', ...found.all() };
  let config: unknown;
  try {
    config = document.toJS({ maxAliasCount: 1000 });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    return { text: '# the config has more aliases than it may\n', ...found.all() };
  }
  return { text: stringify(found.masked(config, []), { lineWidth: 0 }), ...found.all() };
}

/** A text for the eyes of others. */
export function maskTexts(text: string, secrets: readonly string[]): string {
  return mask(text, secrets);
}

class Found {
  readonly #env: NodeJS.ProcessEnv;
  readonly #secrets = new Set<string>();
  readonly #files = new Set<string>();
  readonly #variables = new Set<string>();

  constructor(env: NodeJS.ProcessEnv) {
    this.#env = env;
    for (const [name, value = ''] of Object.entries(env)) {
      if (secretName.test(name) && value.length >= secretMin && !value.startsWith('/')) this.#add(value);
    }
  }

  all(): Pick<MaskedConfig, 'secrets' | 'secretFiles' | 'variables'> {
    return { secrets: [...this.#secrets], secretFiles: [...this.#files], variables: [...this.#variables] };
  }

  masked(value: unknown, path: readonly string[]): unknown {
    if (Array.isArray(value)) return value.map((item: unknown) => this.masked(item, path));
    if (typeof value === 'object' && value !== null) {
      // No mapping belongs there: its keys may be the secret.
      if (isSecretKey.test(path.at(-1) ?? '') && !isPlain(path)) return '***';
      return Object.fromEntries(
        Object.entries(value).map(([key, inner]: [string, unknown]) => {
          // Rows of tests are rows of data.
          if (key === 'tests' && Array.isArray(inner)) return [key, `*** (${inner.length})`];
          return [key, this.masked(inner, [...path, key])];
        }),
      );
    }
    return typeof value === 'string' ? this.#text(value, path) : this.#scalar(value, path);
  }

  #scalar(value: unknown, path: readonly string[]): unknown {
    if (value === null || value === undefined || isPlain(path)) return value;
    this.#add(JSON.stringify(value));
    return '***';
  }

  #text(text: string, path: readonly string[]): string {
    const key = path.at(-1) ?? '';
    const { text: filled, names } = substitute(text, this.#env);
    for (const name of names) this.#variables.add(name);
    if (key.endsWith('File') && key !== 'caFile') this.#files.add(filled);
    const url = /^[a-z][\w+.-]*:\/\//i.test(filled) ? URL.parse(filled) : null;
    if (url !== null) return this.#address(text, url, names.length > 0);
    if (key === 'query') return this.#query(text, filled);
    if (!isPlain(path) && !(key === 'destination' && text === 'emulator')) {
      this.#add(filled);
      return isReference(text) ? withoutDefaults(text) : '***';
    }
    return withoutDefaults(text);
  }

  /** Of an address its scheme and host remain: user, password, path and query may all hold keys. */
  #address(text: string, url: URL, hasVariables: boolean): string {
    for (const secret of secretsIn(url)) this.#add(secret);
    const path = `${url.pathname}${url.search}${url.hash}`;
    if (path.length > 1)
      for (const piece of [path, ...url.pathname.split('/')]) if (piece.length >= secretMin) this.#add(piece);
    if (hasVariables) return isReference(text) ? withoutDefaults(text) : '***';
    const user = url.username + url.password === '' ? '' : '***@';
    return `${url.protocol}//${user}${url.host}${path.length > 1 ? '/***' : ''}`;
  }

  /** The shape of a statement, without its texts and numbers. */
  #query(text: string, filled: string): string {
    for (const [, literal = ''] of filled.matchAll(/'((?:[^']|'')*)'/g)) this.#add(literal);
    return text
      .replaceAll(/'(?:[^']|'')*'/g, "'***'")
      .replaceAll(/\$\{[^}]*\}/g, '***')
      .replaceAll(/\b\d+\b/g, '0');
  }

  #add(text: string): void {
    if (text.trim().length >= 3) this.#secrets.add(text);
  }
}

function isPlain(path: readonly string[]): boolean {
  if (path.some((key) => secretSections.has(key))) return false;
  return path.some((key) => plainSections.has(key)) || plainKeys.has(path.at(-1) ?? '');
}

/** Nothing but variables and what joins them. */
function isReference(text: string): boolean {
  return /^(?:Bearer )?\$\{[A-Za-z_]\w*(?::[-?][^}]*)?\}$/.test(text);
}

function withoutDefaults(text: string): string {
  return text.replaceAll(/(\$\{[A-Za-z_]\w*)(:[-?])[^}]*\}/g, '$1$2***}');
}
