/** The optional script of all pages: they keep up with what they show, and a long tree keeps its place. */
export const script = `'use strict';
(() => {
  const showCurrent = () => {
    // A long tree scrolls by itself; the page keeps its place.
    const tree = document.querySelector('.tree > ul');
    const current = tree?.querySelector('[aria-current]');
    if (current) tree.scrollTop = current.getBoundingClientRect().bottom - tree.getBoundingClientRect().bottom + tree.clientHeight / 2;
  };
  showCurrent();

  // Browsers have a clipboard for pages of this machine and of https only; where there is none, nothing offers to copy.
  if (navigator.clipboard) {
    document.documentElement.classList.add('copies');
    document.addEventListener('click', async ({ target }) => {
      const button = target.closest?.('.copy');
      if (!button) return;
      await navigator.clipboard.writeText(button.parentElement.querySelector('pre').textContent);
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 2000);
    });
  }

  const { events } = document.body.dataset;
  if (!events || typeof EventSource !== 'function') return;

  // What somebody has opened, written, played or moved to stays as it is: only what differs is touched.
  const nameOf = (node) => {
    if (node.nodeType !== 1) return '#text';
    const { id, dataset, nodeName, firstElementChild } = node;
    const title = nodeName === 'DETAILS' ? firstElementChild.textContent.replace(/[0-9]+/g, '') : node.getAttribute('aria-label');
    return id || dataset.key || nodeName + (title ?? '');
  };
  const partsOf = (node) => [...node.childNodes].filter((part) => part.nodeType === 1 || (part.nodeType === 3 && part.data.trim() !== ''));
  const isOpened = (node, name) => name === 'open' && node.nodeName === 'DETAILS';
  const follow = (old, now) => {
    if (old.isEqualNode(now)) return;
    if (old.nodeType !== 1) { old.data = now.data; return; }
    for (const { name } of [...old.attributes]) if (!now.hasAttribute(name) && !isOpened(old, name)) old.removeAttribute(name);
    for (const { name, value } of now.attributes) if (old.getAttribute(name) !== value && !isOpened(old, name)) old.setAttribute(name, value);
    const parts = partsOf(old);
    const wanted = partsOf(now);
    const left = new Map();
    for (const part of wanted) left.set(nameOf(part), (left.get(nameOf(part)) ?? 0) + 1);
    for (const part of wanted) {
      const name = nameOf(part);
      while (parts.length > 0 && nameOf(parts[0]) !== name && !left.get(nameOf(parts[0]))) parts.shift().remove();
      left.set(name, left.get(name) - 1);
      if (parts.length > 0 && nameOf(parts[0]) === name) follow(parts.shift(), part);
      else {
        const blank = part.previousSibling?.nodeType === 3 ? ' ' : '';
        if (parts.length > 0) parts[0].before(part, blank);
        else old.append(blank, part);
      }
    }
    for (const part of parts) part.remove();
  };
  const swap = (next) => {
    const live = [...document.querySelectorAll('[data-live]')];
    const fresh = [...next.querySelectorAll('[data-live]')];
    if (live.length !== fresh.length) return;
    live.forEach((old, index) => follow(old, fresh[index]));
  };
  let isAsking = false;
  let isWanted = false;
  let soon;
  const update = async () => {
    isWanted = true;
    if (isAsking || document.hidden) return;
    isAsking = true;
    try {
      while (isWanted) {
        isWanted = false;
        const response = await fetch(location.href);
        if (response.ok) swap(new DOMParser().parseFromString(await response.text(), 'text/html'));
      }
    } catch {
      // The agent is gone for now. The page says what it knew last, and asks again with the next event.
    } finally {
      isAsking = false;
      askSoon();
    }
  };
  // What moves by itself, such as a task that runs, tells nobody.
  const askSoon = () => {
    clearTimeout(soon);
    if (document.querySelector('[data-soon]')) soon = setTimeout(update, 1000);
  };
  askSoon();
  const source = new EventSource(events);
  document.documentElement.classList.add('live');
  source.addEventListener('news', update);
  // What happened since the page was made, or while the connection was gone, was told to nobody.
  source.addEventListener('open', update);
  document.addEventListener('visibilitychange', () => { if (!document.hidden && isWanted) update(); });
  // Times are said as "5 min ago".
  setInterval(update, 60_000);
})();
`;
