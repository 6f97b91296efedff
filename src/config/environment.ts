/** `${VAR}`, `${VAR:-default}` and `${VAR:?message}` in texts of the config. `$${` stands for `${`. */

/** The result for one text. */
export interface Substitution {
  readonly text: string;
  /** The variables that it names, set or not. */
  readonly names: readonly string[];
  readonly failures: readonly SubstitutionFailure[];
}

export interface SubstitutionFailure {
  /** The variable that is not set; `undefined` where the text itself is wrong. */
  readonly variable: string | undefined;
  /** Where in the text, in UTF-16 units from 0. */
  readonly offset: number;
  readonly message: string;
  readonly hint: string;
}

const reference = /^([A-Za-z_][A-Za-z0-9_]*)(?:(:-|:\?)(.*))?$/s;

/**
 * Replaces variables in a text. As in a shell, `:-` and `:?` also apply to an empty variable. An unset variable leaves its
 * name, which is a valid template, pattern and path.
 */
export function substitute(text: string, env: NodeJS.ProcessEnv): Substitution {
  const names: string[] = [];
  const failures: SubstitutionFailure[] = [];
  let result = '';
  let at = 0;
  for (;;) {
    const dollar = text.indexOf('${', at);
    if (dollar < 0) break;
    if (text[dollar - 1] === '$' && dollar > at) {
      result += `${text.slice(at, dollar - 1)}\${`;
      at = dollar + 2;
      continue;
    }
    result += text.slice(at, dollar);
    const end = text.indexOf('}', dollar);
    const [, name, operator, word = ''] = reference.exec(end < 0 ? '' : text.slice(dollar + 2, end)) ?? [];
    if (name === undefined || word.includes('${')) {
      failures.push({ variable: undefined, offset: dollar, ...malformed });
      at = dollar + 2;
      continue;
    }
    at = end + 1;
    names.push(name);
    const value = env[name];
    if (value !== undefined && (value !== '' || operator === undefined)) result += value;
    else if (operator === ':-') result += word;
    else {
      result += name;
      failures.push({ variable: name, offset: dollar, ...unset(name, word) });
    }
  }
  return { text: result + text.slice(at), names, failures };
}

const malformed = {
  message: 'a "${" that names no variable',
  hint: 'write ${NAME}, ${NAME:-default} or ${NAME:?message}, and $${ for a plain "${"',
};

function unset(name: string, message: string): { message: string; hint: string } {
  return {
    message: `the environment variable ${name} is not set${message === '' ? '' : `: ${message}`}`,
    hint: `set ${name} where the agent is started, or write \${${name}:-default}`,
  };
}
