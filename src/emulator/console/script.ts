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

  document.documentElement.classList.add('scripted');
  const picker = document.querySelector('.picker');
  if (picker) {
    const rows = [...picker.querySelectorAll('tbody tr')];
    const boxOf = (row) => row.querySelector('input');
    const groupOf = (row) => row.closest('fieldset').dataset.modality;
    const count = () => {
      document.getElementById('eligible').textContent = rows.filter((row) => boxOf(row).checked).length;
      for (const group of picker.querySelectorAll('fieldset')) group.querySelector('[data-count]').textContent = group.querySelectorAll('tbody :checked').length;
    };
    picker.addEventListener('change', count);
    picker.addEventListener('click', (event) => {
      const button = event.target.closest('button[name=pick]');
      if (!button) return;
      event.preventDefault();
      const [what, which] = button.value.split(' ');
      // What the filter hides was not meant.
      for (const row of rows) if (!row.hidden && (which === undefined || which === groupOf(row))) boxOf(row).checked = what === 'all';
      count();
    });
    const filter = document.getElementById('filter');
    filter.addEventListener('input', () => {
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(filter.value.trim().toLowerCase());
      for (const group of picker.querySelectorAll('fieldset')) group.hidden = !group.querySelector('tbody tr:not([hidden])');
    });
    filter.addEventListener('keydown', (event) => { if (event.key === 'Enter') event.preventDefault(); });
    document.querySelector('.ceilings').addEventListener('input', () => {
      for (const row of rows) {
        const ceiling = document.getElementById('ceiling-' + groupOf(row)).value;
        row.querySelector('.above').hidden = !(Number(row.dataset.credits) > Number(ceiling || Infinity));
      }
    });
  }
})();
`;
