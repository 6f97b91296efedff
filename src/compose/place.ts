/** Where things are in a state directory. */
import path from 'node:path';
import type { Settings } from '../core/settings.ts';

export { makeFolder } from '../edges/state/private-file.ts';

export function fileIn(settings: Pick<Settings, 'state'>, name: 'buffer' | 'ledger' | 'archive'): string {
  return path.join(settings.state, name === 'archive' ? name : `${name}.db`);
}
