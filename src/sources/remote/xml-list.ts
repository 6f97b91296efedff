/** Lists in XML, as S3 and WebDAV answer: whole, or a fault. */
import { XmlFault, parseXml } from '../formats/xml.ts';

/**
 * Hands over each element when it closes: the names from the root to it, without prefixes, and its text.
 * @throws XmlFault where it is cut short, or is another document
 */
export async function readElements(
  chunks: AsyncIterable<Uint8Array>,
  root: string,
  closed: (path: string, text: string) => void,
): Promise<void> {
  const open: { readonly name: string; text: string }[] = [];
  let isWhole = false;
  try {
    await parseXml(chunks, {
      open({ name }) {
        if (open.length === 0 && name !== root) throw new XmlFault(`it is a document "${name.slice(0, 40)}"`);
        open.push({ name, text: '' });
      },
      text(text) {
        const last = open.at(-1);
        if (last !== undefined) last.text += text;
      },
      close(name) {
        const path = open.map((element) => element.name).join('/');
        const last = open.pop();
        if (last?.name !== name) throw new XmlFault(`"${name.slice(0, 40)}" ends where it did not begin`);
        closed(path, last.text);
        isWhole = open.length === 0;
      },
    });
  } catch (error) {
    if (error instanceof XmlFault || !(error instanceof Error) || 'code' in error) throw error;
    // saxen's own words.
    throw new XmlFault(error.message, { cause: error });
  }
  if (!isWhole) throw new XmlFault('it ends too early');
}
