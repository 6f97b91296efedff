/** Why a row gives no reading, as people read it. */

export function timeReason(text: string, reason: string): string {
  return text.trim() === '' ? 'time is empty' : reason;
}

export function emptyReason(where: 'id' | 'path', column: string, text: string): string {
  if (text.trim() === '') return `${where}: column "${column}" is empty`;
  return `${where}: "${text.slice(0, 40)}" of column "${column}" comes out empty`;
}
