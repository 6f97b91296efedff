/** Whether a file that others write is another one than before, without reading it. */
import { statSync } from 'node:fs';

/** Another text whenever the file is written anew, comes or goes. Why it cannot be looked at is for whoever reads it to say. */
export function fileStamp(file: string): string {
  try {
    const { ino, size, mtimeMs } = statSync(file);
    return `${ino} ${size} ${mtimeMs}`;
  } catch (error) {
    // Not only that it is missing: a share that is away, a folder of another user, links that lead back to themselves.
    return String((error as NodeJS.ErrnoException).code);
  }
}
