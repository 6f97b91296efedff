/** Snapshots, forks and faults of the console in a real browser: by keyboard, with and without JavaScript. */
import { describe, expect, test } from 'vitest';
import { browserWorlds } from '../support/console-browser.ts';
import { driver, push } from '../support/emulator-world.ts';
import { browserName, cannotBrowse } from '../support/real-browser.ts';

const update = { extDrivers: [driver('b', '0 2')] };

describe.skipIf(cannotBrowse)(`the controls of the console in ${browserName}`, () => {
  const world = browserWorlds();

  test.for([true, false])(
    'a snapshot is kept, gone back to, and left again, with JavaScript: %s',
    async (javaScriptEnabled) => {
      const { emulator, page, problems } = await world({ javaScriptEnabled });
      const ids = () => emulator.drivers().map(({ id }) => id);
      await push(emulator, { extDrivers: [driver('a', '0 1')] });
      await page.goto('/console/snapshots');
      await page.getByLabel('Name').fill('seeded');
      await page.keyboard.press('Enter');
      await page.getByText('Kept as seeded').waitFor();
      await push(emulator, update);
      await page.getByRole('link', { name: 'Go back to seeded' }).click();
      await page.getByRole('heading', { name: 'Go back to this snapshot?' }).waitFor();
      // The way out has the focus.
      await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Stay here');
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Enter');
      await page.getByText('Went back to: seeded').waitFor();
      expect(ids()).toEqual(['a']);
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('heading', { name: 'Snapshots' }).waitFor();
      await expect.poll(ids).toEqual(['a', 'b']);
      expect(problems).toEqual([]);
    },
  );

  test('a name that cannot be is refused by the browser, and a taken one by the page, which takes the focus', async () => {
    const { emulator, page } = await world();
    emulator.snapshot('seeded');
    await page.goto('/console/snapshots');
    await page.getByLabel('Name').fill('with blanks');
    await page.keyboard.press('Enter');
    expect(await page.evaluate("document.getElementById('name').validity.patternMismatch")).toBe(true);
    await page.getByLabel('Name').fill('seeded');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('choose another name').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.id')).toBe('problems');
  });

  test('a fork is started and its console opened', async () => {
    const { emulator, page } = await world();
    await push(emulator, update);
    await page.goto('/console/snapshots');
    await page.getByRole('button', { name: 'Fork what is held now' }).click();
    await page.getByRole('link', { name: /^http:/ }).click();
    await page.getByRole('link', { name: '1 driver' }).waitFor();
    expect(new URL(page.url()).origin).not.toBe(emulator.url);
  });

  test.for([true, false])('a fault has the fields of its kind, with JavaScript: %s', async (javaScriptEnabled) => {
    const { emulator, page, problems } = await world({ javaScriptEnabled });
    await page.goto('/console/faults');
    const shown = async () => page.locator('.fault label:visible').allTextContents();
    expect(await shown()).toContain('Status');
    await page.getByLabel('What happens').selectOption('task-fails');
    expect(await shown()).toEqual([
      'What happens',
      'Failure code',
      'To which requests',
      'How many',
      'Share of them (%)',
    ]);
    await page.getByLabel('Failure code').fill('INTERNAL');
    await page.getByRole('button', { name: 'Add fault' }).click();
    await page.getByText('Its task fails with INTERNAL').waitFor();
    expect(await (await emulator.fetch('/_emulator/faults')).json()).toMatchObject({
      faults: [{ failureCode: 'INTERNAL' }],
    });
    expect(problems).toEqual([]);
  });

  test('the queue of faults is followed while a script is written beside it', async () => {
    const { emulator, page, problems } = await world();
    emulator.faults({ status: 503, times: 2 });
    await page.goto('/console/faults');
    await page.getByText('the next 2').waitFor();
    await page.getByText('Play a script').click();
    await page.getByLabel('Script (JSON)').fill('{"faults": [');
    expect(await push(emulator, update)).toBe(503);
    await page.getByText('the next one').waitFor();
    expect(await page.getByLabel('Script (JSON)').inputValue()).toBe('{"faults": [');
    expect(await push(emulator, update)).toBe(503);
    await page.getByText('No faults wait').waitFor();
    expect(problems).toEqual([]);
  });
});
