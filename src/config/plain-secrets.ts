/** Finds secrets that stand in the config itself, where backups, editors and colleagues see them. `check` warns of them. */
import type { Diagnostic, Path } from './diagnostics.ts';
import type { ConfigDocument, Spot, Written } from './document.ts';
import { pathKey } from './diagnostics.ts';
import { secretsIn } from '../http/masking.ts';
import { plainSecretsInCommand } from '../sources/command/secrets.ts';

/** Keys whose texts are secret, wherever they stand. */
const secretKeys = /^(token|password|passphrase|secret|clientSecret|secretKey|secretAccessKey|sessionToken|apiKey)$/i;
/** Variables of a program, by their names. */
const secretVariables = /PASS|TOKEN|SECRET|API_?KEY|ACCESS_?KEY/i;
/** Headers that let somebody in. */
const secretHeaders = /^(authorization|proxy-authorization|cookie|x-api-key|api-key|x-auth-token)$/i;

export function plainSecrets(document: ConfigDocument): readonly Diagnostic[] {
  return find(document, [], document.value);
}

function find(document: ConfigDocument, path: Path, value: Written): Diagnostic[] {
  if (Array.isArray(value)) {
    if (path.length === 3 && path[0] === 'sources' && path[2] === 'command')
      return findInCommand(document, path, value);
    return value.flatMap((item: Written, index) => find(document, [...path, index], item));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]: [string, Written]) => find(document, [...path, key], inner));
  }
  const spot = document.spots.get(pathKey(path));
  if (value === undefined || value === null || value === '' || hasVariable(spot)) return [];
  const what = secretAt(path, String(value));
  if (what === undefined) return [];
  const key = String(path.at(-1));
  const file = key === 'token' ? `, or name a file: ${key}File` : '';
  const where = typeof path.at(-1) === 'number' ? '' : `${key}: `;
  const hint = `take it from the environment: ${where}\${NAME}${file}`;
  return [{ path, message: `${what} stands in the file, for everybody who may read it or a copy of it`, hint }];
}

/** A variable in an argument hides nothing: the machine shows what a program was started with. */
function findInCommand(document: ConfigDocument, path: Path, command: readonly Written[]): Diagnostic[] {
  return [...plainSecretsInCommand(command.map((word) => (typeof word === 'string' ? word : '')))].map(
    ([index, what]) => {
      const at = [...path, index];
      const isPlain = !hasVariable(document.spots.get(pathKey(at)));
      const where = `${isPlain ? 'stands in the file, and ' : ''}is an argument of a program, which every user of this machine can see while it runs`;
      const hint = 'hand it over in the environment of the program: env: { PASSWORD: "${NAME}" }';
      return { path: at, message: `${what} ${where}`, hint };
    },
  );
}

function hasVariable(spot: Spot | undefined): boolean {
  return (spot?.variables?.length ?? 0) > 0;
}

function secretAt(path: Path, text: string): string | undefined {
  const key = String(path.at(-1));
  const above = String(path.at(-2));
  // Columns, maps and rows of tests may have any name.
  if (['maps', 'where', 'tests', 'drivers'].some((section) => path.includes(section) && path[0] === 'sources'))
    return undefined;
  if (secretKeys.test(key)) return `the ${key}`;
  if (above === 'headers' && secretHeaders.test(key)) return `the header ${key}`;
  const url = ['notify', 'heartbeat'].includes(String(path[0])) ? URL.parse(text) : null;
  if (url !== null && secretsIn(url).some((secret) => secret !== '')) return 'an address that lets in whoever knows it';
  if (above === 'env' && secretVariables.test(key)) return `the variable ${key}`;
  return /^[a-z][\w+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i.test(text) ? 'the password of the address' : undefined;
}
