/** What an answer is told to be by its first characters. */
import { describe, expect, test } from 'vitest';
import { isPageText } from '../../src/http/answer.ts';

describe('a web page', () => {
  test.each([
    '<html>',
    '<!DOCTYPE html><p>x',
    '\uFEFF\r\n <!doctype HTML>',
    '<head><title>Sign in</title></head>',
    '<script>location="/login"</script>',
    '<body>x',
    '<meta http-equiv="refresh" content="0">',
    '<!-- c --><html>',
    '<!-- a > b -->\n<!-- c -->\n<HTML lang="de">',
    '<!-- it does not end',
    '<?xml version="1.0"?><!DOCTYPE html><html>',
    '<h1>Service unavailable</h1>',
    '<br/>x',
    '<p',
  ])('is told by how it begins: %s', (text) => expect(isPageText(text)).toBe(true));

  test.each([
    '',
    '{"ok":true}',
    'ok',
    '<?xml version="1.0"?><answer/>',
    '<ok/>',
    '<answer>',
    '<headers/>',
    '< html',
    'x <html>',
  ])('is not what begins otherwise: %s', (text) => expect(isPageText(text)).toBe(false));
});
