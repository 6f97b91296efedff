/** Options that nobody could use are refused before anything is opened. */

/** Node takes no host for every address of the machine. @throws RangeError */
export function checkHost(host: string | undefined): void {
  if (host !== undefined && typeof host !== 'string') throw new RangeError(`host must be text, not ${String(host)}`);
  if (host === '') throw new RangeError('host is empty: name an address to listen at, such as 127.0.0.1');
}

/** Infinity is no limit. @throws RangeError */
export function checkBytes(options: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value = 0] of Object.entries(options)) {
    if (value === Infinity || (Number.isInteger(value) && value >= 0)) continue;
    throw new RangeError(`${name} must be bytes, such as 1048576, not ${value}`);
  }
}

/** @throws RangeError */
export function checkMilliseconds(name: string, value = 0): void {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw new RangeError(`${name} must be milliseconds, such as 30000, not ${value}`);
  }
}

/** Node would take a text for the name of a socket. @throws RangeError */
export function checkPort(port: number | undefined): void {
  if (port === undefined || (Number.isInteger(port) && port >= 0 && port <= 65_535)) return;
  throw new RangeError(`port must be from 0 to 65535, not ${JSON.stringify(port)}`);
}

/** Whoever writes 'false' means something else than true. @throws RangeError */
export function checkSwitch(name: string, value: boolean | undefined): void {
  if (value === undefined || typeof value === 'boolean') return;
  throw new RangeError(`${name} must be true or false, not ${JSON.stringify(value)}`);
}
