/** Whether anything stands in the place of a config file, and why what stands there cannot be reached. */
import { lstatSync, readlinkSync } from 'node:fs';
import path from 'node:path';

/** Where following a path ends early. */
type End =
  | { readonly is: 'gone'; readonly at: string; readonly link?: Link | undefined }
  | { readonly is: 'closed'; readonly folder: string };

/** The last link that was followed. */
interface Link {
  readonly from: string;
  readonly to: string;
}

/** As many as Linux follows. */
const linksMax = 40;

/**
 * Whether a config file stands there, as far as anybody can tell: what cannot be reached may be the very one that is meant. So only a
 * path that ends in a directory, or in a file in the place of one, has nothing.
 * @param file absolute path
 */
export function isThere(file: string): boolean {
  try {
    lstatSync(file);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return danglingLink(endOf(file)) !== undefined;
    return code !== 'ENOTDIR';
  }
}

/** Why a file cannot be read, in the words of a message behind its name. */
export function whyUnread(file: string, code: string): string {
  const end = endOf(file);
  if (end?.is === 'closed') return `user id ${process.geteuid?.()} may not enter ${end.folder}`;
  const link = danglingLink(end);
  if (link !== undefined) return `${link.from} leads nowhere, to ${link.to}`;
  return code === 'EACCES' ? `user id ${process.geteuid?.()} may not read it` : code;
}

/** A link to what is not there, such as a share that is not mounted. Not one to a directory that lacks the file. */
function danglingLink(end: End | undefined): Link | undefined {
  if (end?.is !== 'gone' || end.link === undefined) return undefined;
  const { to } = end.link;
  return to === end.at || to.startsWith(`${end.at}${path.sep}`) ? end.link : undefined;
}

function endOf(file: string): End | undefined {
  let names = namesOf(file);
  let at = path.parse(file).root;
  let link: Link | undefined;
  for (let links = 0; names.length > 0 && links <= linksMax;) {
    const next = path.join(at, names[0] ?? '');
    try {
      const isLink = lstatSync(next).isSymbolicLink();
      names = names.slice(1);
      if (!isLink) {
        at = next;
        continue;
      }
      const to = path.resolve(at, readlinkSync(next));
      link = { from: next, to };
      names = [...namesOf(to), ...names];
      at = path.parse(to).root;
      links += 1;
    } catch (error) {
      const code = codeOf(error);
      if (code === 'EACCES') return { is: 'closed', folder: at };
      return code === 'ENOENT' ? { is: 'gone', at: next, link } : undefined;
    }
  }
  return undefined;
}

function namesOf(file: string): string[] {
  return file
    .slice(path.parse(file).root.length)
    .split(path.sep)
    .filter((name) => name !== '');
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error) return String(error.code);
  throw error;
}
