/** What happens to the data of a source: what its owners mean, and what goes wrong on the way. Each says what it did, for a story. */
import type { Mapping } from '../../core/settings.ts';
import type { Entropy } from '../entropy.ts';
import type { Slip } from '../rows/books.ts';
import { sheetOf } from '../rows/books.ts';
import type { Exporting, Owner } from '../world/owner.ts';
import type { PlaceKind, ReadFault, Sheet, WrittenRow } from '../world/place.ts';
import type { EventKind } from './events.ts';

/** What can happen to files alone, and to files of text alone: a server's answer is not cut, renamed or gone. */
const ofFiles = new Set<EventKind>(['touch', 'rename', 'half', 'cut', 'blank', 'vanish', 'readChanges', 'copy']);
const ofTexts = new Set<EventKind>(['half', 'append', 'torn', 'rewritten']);

/** Whether something can happen in a place of this kind. */
export function canHappen(kind: EventKind, { nature }: PlaceKind): boolean {
  if (nature === 'text') return true;
  return nature === 'bytes' ? !ofTexts.has(kind) : !ofFiles.has(kind);
}

const slips: readonly Slip[] = ['thousandfold', 'sign', 'moved', 'zeros', 'copied', 'exchanged'];
/** The same in a month that nothing is known of yet. */
const slipsOfNew: Readonly<Partial<Record<Slip, Slip>>> = { thousandfold: 'new scale', sign: 'new sign' };

type Doing = (owner: Owner, draw: Entropy) => string | undefined;

/** A part of the place, and what it holds. */
function somePart(
  { place, parts }: Owner,
  draw: Entropy,
): { readonly name: string; readonly sheet: Sheet } | undefined {
  if (parts.length === 0) return undefined;
  const name = draw.pick(parts, 'part');
  const sheet = place.files.get(name)?.sheet;
  return sheet && { name, sheet };
}

/** What a part is written by, and what it is. */
interface Written extends Pick<PlaceKind, 'nature'> {
  readonly mapping: Mapping;
}

/** Writes a part anew, changed. */
function changing(change: (sheet: Sheet, draw: Entropy, of: Written) => Sheet | undefined, says: string): Doing {
  return (owner, draw) => {
    const part = somePart(owner, draw);
    const sheet =
      part && change(part.sheet, draw, { mapping: owner.books.grid.mapping, nature: owner.place.kind.nature });
    if (part === undefined || sheet === undefined) return undefined;
    owner.put(part.name, sheet);
    owner.changed();
    return `${part.name} of ${owner.place.name} ${says}`;
  };
}

/** Files that grow get the rows of another month, in place. */
function growing(change: (owner: Owner, draw: Entropy) => Omit<Exporting, 'slip' | 'isInPlace'>, says: string): Doing {
  return (owner, draw) => {
    if (!owner.place.grows) return undefined;
    const how = change(owner, draw);
    owner.addMonth();
    owner.export({ ...how, isInPlace: true });
    return `${owner.place.name} ${says}`;
  };
}

function fault(kind: ReadFault, says: string): Doing {
  return (owner) => {
    owner.place.faults.push(kind);
    owner.put(...firstPart(owner));
    owner.changed();
    return `the next read of ${owner.place.name} ${says}`;
  };
}

function firstPart(owner: Owner): [string, Sheet] {
  const [[name, file] = []] = owner.place.files;
  return [
    name ?? 'export',
    file?.sheet ?? owner.books.sheet({ part: 'export', items: owner.items, months: owner.months }),
  ];
}

/** By kind. `undefined` from one: there was nothing to do it to. */
export const dataEvents: Readonly<Partial<Record<EventKind, Doing>>> = {
  month(owner) {
    owner.addMonth();
    owner.export();
    return `a month is added to ${owner.place.name}`;
  },
  restate(owner, draw) {
    const { first, last } = owner.months;
    const count = draw.between(1, 4, 'count');
    for (let at = 0; at < count; at++) {
      owner.books.restate(draw.pick(owner.items, 'item', at), draw.between(first, last, 'month', at));
    }
    owner.export();
    return `${count} numbers of ${owner.place.name} are restated`;
  },
  newItem: (owner) => {
    if (!owner.addItem()) return undefined;
    owner.export();
    return `${owner.place.name} has something new`;
  },
  goneItem: (owner, draw) => {
    if (!owner.dropItem(draw.between(0, 99, 'item'))) return undefined;
    owner.export();
    return `something is really gone from ${owner.place.name}`;
  },
  rolling: (owner) => {
    if (!owner.dropOldest()) return undefined;
    owner.export();
    return `${owner.place.name} shows only recent months`;
  },
  append: growing(() => ({}), 'has new rows behind the old ones'),
  torn: growing(() => ({ isTorn: true }), 'has new rows, and the last one is still being written'),
  rewritten: growing((owner, draw) => {
    owner.changeAbove(draw);
    // What goes from one file must not go on the word of another that was changed.
    return { lacks: draw.isIn(0.8, 'lacks') ? draw.pick(owner.parts, 'lacks part') : undefined };
  }, 'has new rows, and was changed above them'),
  booking(owner, draw) {
    if (!owner.books.book(draw.pick(owner.items, 'item'), owner.months.last)) return undefined;
    owner.export({ isInPlace: owner.place.grows });
    return `${owner.place.name} has another booking of its last month`;
  },
  touch: changing((sheet) => sheet, 'is touched, and stays what it is'),
  rename(owner, draw) {
    const part = somePart(owner, draw);
    if (part === undefined) return undefined;
    owner.place.remove(part.name);
    owner.put(`${part.name}-renamed`, part.sheet);
    owner.changed();
    return `${part.name} of ${owner.place.name} has another name`;
  },
  half: changing(({ columns, rows, slip }, draw) => {
    const left = Math.floor(rows.length * draw.of('left'));
    return sheetOf(columns, rows.slice(0, left), { isCut: true, ...(slip && { slip }) });
  }, 'ends half way, at a line end'),
  gap: changing(({ columns, rows, slip }, draw) => {
    const monthsOf = ({ means = [] }: WrittenRow): readonly number[] => means.map(({ month }) => month);
    const months = [...new Set(rows.flatMap(monthsOf))].sort((a, b) => a - b).slice(1, -1);
    if (months.length === 0) return undefined;
    const gone = draw.pick(months, 'month');
    const left = rows.filter((row) => monthsOf(row).length === 0 || monthsOf(row).some((month) => month !== gone));
    return sheetOf(columns, left, { isCut: true, ...(slip && { slip }) });
  }, 'lacks a month between others'),
  window: changing(({ columns, rows, slip }, draw, { mapping }) => {
    // What stands above a row would be missing.
    if (mapping.fillDown.length > 0) return undefined;
    const oldest = Math.min(...rows.flatMap(({ means = [] }) => means.map(({ month }) => month)));
    const isOldest = ({ means = [] }: WrittenRow): boolean =>
      means.length > 0 && means.every(({ month }) => month === oldest);
    const days = draw.between(1, 2, 'days');
    const passed = new Map<string, number>();
    const left = rows.filter((row) => {
      if (!isOldest(row)) return true;
      const [{ driver } = { driver: '' }] = row.means ?? [];
      passed.set(driver, (passed.get(driver) ?? 0) + 1);
      return passed.get(driver)! > days;
    });
    // Where nothing is left of the month, the export has lost it whole.
    if (left.length === rows.length || !left.some(isOldest)) return undefined;
    return sheetOf(columns, left, { isCut: true, ...(slip && { slip }) });
  }, 'begins within its oldest month'),
  thin: changing(({ columns, rows, slip }, _draw, { mapping }) => {
    // What stands above a row would be missing.
    if (mapping.fillDown.length > 0) return undefined;
    const seen = new Set<string>();
    const left = rows.filter(({ means = [] }) => {
      const points = means.map(({ driver, month }) => `${month} ${driver}`);
      const isFirst = points.length === 0 || points.some((point) => !seen.has(point));
      for (const point of points) seen.add(point);
      return isFirst;
    });
    if (left.length === rows.length) return undefined;
    return sheetOf(columns, left, { isCut: true, ...(slip && { slip }) });
  }, 'has one row of each number, and none of its others'),
  cut: changing(({ columns, rows }, draw, { nature }) => {
    const left = Math.floor(rows.length * draw.of('left'));
    if (nature === 'bytes') return sheetOf(columns, rows, { fault: 'it ends before its end: it cannot be unpacked' });
    return sheetOf(columns, rows.slice(0, left), { isCut: true, endsWithLineEnd: false });
  }, 'is cut'),
  empty: changing(({ columns }) => sheetOf(columns, []), 'has a header and no rows'),
  blank: changing(({ columns }) => sheetOf(columns, [], { fault: 'it has no header' }), 'has no bytes'),
  vanish(owner, draw) {
    const part = somePart(owner, draw);
    if (part === undefined) return undefined;
    owner.place.remove(part.name);
    owner.changed();
    return `${part.name} of ${owner.place.name} is gone`;
  },
  away(owner) {
    owner.place.isAway = true;
    return `the place of ${owner.place.name} cannot be reached`;
  },
  slip(owner, draw) {
    const slip = draw.pick(slips, 'slip');
    const ofNew = draw.isIn(0.5, 'new') ? slipsOfNew[slip] : undefined;
    if (ofNew !== undefined) owner.addMonth();
    owner.export({ slip: ofNew ?? slip });
    return `${owner.place.name} is exported with a slip: ${ofNew ?? slip}`;
  },
  badCells: changing((sheet, draw, { mapping: { where, missing } }) => {
    const bad = draw.between(0, Math.max(0, sheet.rows.length - 1), 'row');
    const share = draw.isIn(0.3, 'many') ? draw.of('share') : 0;
    const text = ['#REF!', '#VALUE!', '#NAME?', '??'].find((one) => !missing.includes(one));
    if (text === undefined) return undefined;
    // What conditions look at stays: a row that they leave out is no reject.
    const stays = sheet.columns.map((name) => where.some(({ column }) => column === name));
    const spoiled = ({ fields }: WrittenRow): WrittenRow => ({
      fields: fields.map((field, at) => (stays[at] === true ? field : text)),
      means: undefined,
    });
    const rows = sheet.rows.map((row, at) => (at === bad || draw.isIn(share, 'bad', at) ? spoiled(row) : row));
    return rows.length === 0 ? undefined : sheetOf(sheet.columns, rows, { endsWithLineEnd: sheet.endsWithLineEnd });
  }, 'has rows that nobody can read'),
  header: changing(
    ({ columns, rows }) =>
      sheetOf(
        columns.map((column) => `${column} (new)`),
        rows,
      ),
    'has another header',
  ),
  older(owner, draw) {
    const part = somePart(owner, draw);
    return part !== undefined && owner.goBack(part.name)
      ? `${part.name} of ${owner.place.name} is an older state`
      : undefined;
  },
  copy(owner, draw) {
    const part = somePart(owner, draw);
    if (part === undefined) return undefined;
    owner.put(`${part.name}-copy`, part.sheet);
    owner.changed();
    return `${part.name} of ${owner.place.name} lies there twice`;
  },
  readFails: fault('fails', 'fails half way'),
  readChanges: fault('changes', 'finds a file that is being written'),
  readHangs: fault('hangs', 'hangs'),
};
