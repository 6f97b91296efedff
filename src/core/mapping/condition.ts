import type { Test } from '../settings.ts';

/** Whether a text passes a test of `where`. */
export function isMatch(test: Test, text: string): boolean {
  switch (test.kind) {
    case 'oneOf':
      return test.texts.includes(text);
    case 'matches':
      return test.pattern.test(text);
    case 'not':
      return !isMatch(test.test, text);
  }
}
