/** The optional script of the pages: that of all pages, and forms that react while they are filled in. */
import { script as common } from '../../pages/script.ts';
import { agoOf } from '../../pages/ago.ts';
import { slugOf } from './slug.ts';

export const script = `${common}
(() => {
  const agoOf = ${agoOf.toString()};
  setInterval(() => {
    for (const time of document.querySelectorAll('time[data-ago]')) {
      const ago = agoOf(Date.now() - Date.parse(time.dateTime));
      if (time.textContent !== ago) time.textContent = ago;
    }
  }, 1000);

  const name = document.getElementById('name');
  const slug = document.getElementById('slug');
  if (name && slug && !slug.readOnly) {
    const derive = ${slugOf.toString()};
    let isOwn = slug.value !== '' && slug.value !== derive(name.value);
    slug.addEventListener('input', () => { isOwn = slug.value !== ''; });
    name.addEventListener('input', () => { if (!isOwn) slug.value = derive(name.value); });
  }

  const eligible = document.getElementById('eligible');
  const boxes = [...document.querySelectorAll('input[name=model]')];
  const count = () => { eligible.textContent = String(boxes.filter((box) => box.checked).length); };
  for (const box of boxes) box.addEventListener('change', count);
})();
`;
