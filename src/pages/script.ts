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

  const { events } = document.body.dataset;
  if (!events || typeof EventSource !== 'function') return;

  // What somebody has opened, written or moved to stays as it is.
  const swap = (next) => {
    const live = [...document.querySelectorAll('[data-live]')];
    const fresh = [...next.querySelectorAll('[data-live]')];
    if (live.length !== fresh.length) return;
    live.forEach((old, index) => {
      const now = fresh[index];
      if (old.innerHTML === now.innerHTML) return;
      if (old.contains(document.activeElement) && document.activeElement.matches('input, select, textarea')) return;
      const places = [...old.querySelectorAll('a, button, summary, [tabindex]')];
      const focused = places.indexOf(document.activeElement);
      const open = new Set([...old.querySelectorAll('details[open] > summary')].map(({ textContent }) => textContent));
      const scrolled = [...old.querySelectorAll('.scroll, .tree > ul')].map(({ scrollTop, scrollLeft }) => [scrollTop, scrollLeft]);
      for (const summary of now.querySelectorAll('details > summary')) if (open.has(summary.textContent)) summary.parentElement.open = true;
      old.replaceChildren(...now.childNodes);
      old.querySelectorAll('.scroll, .tree > ul').forEach((one, at) => one.scrollTo(scrolled[at]?.[1] ?? 0, scrolled[at]?.[0] ?? 0));
      if (focused >= 0) old.querySelectorAll('a, button, summary, [tabindex]')[focused]?.focus({ preventScroll: true });
    });
  };
  let isAsking = false;
  let isWanted = false;
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
    }
  };
  const source = new EventSource(events);
  source.addEventListener('news', update);
  // What happened since the page was made, or while the connection was gone, was told to nobody.
  source.addEventListener('open', update);
  document.addEventListener('visibilitychange', () => { if (!document.hidden && isWanted) update(); });
  // Times are said as "5 min ago".
  setInterval(update, 60_000);
})();
`;
