/** What the agent and the thread of its status page tell each other. No secret crosses but the way to a ledger that is shared: the thread reads it. */
import type { DriverEntry, Settings, SourceSettings, StatusSettings } from '../core/settings.ts';
import type { OpenedFiles } from '../edges/state/in-place.ts';
import type { PassNotes } from '../status/watched.ts';

export interface StatusThreadData {
  readonly settings: Settings;
  readonly notes: PassNotes;
  readonly version: string;
  readonly lockFile: OpenedFiles;
}

export type ToStatusThread =
  | { readonly kind: 'settings'; readonly settings: Settings }
  | { readonly kind: 'notes'; readonly notes: PassNotes }
  /** The digest of the settings as the config file has them now; `undefined` where it is not valid. */
  | { readonly kind: 'fileDigest'; readonly digest: string | undefined };

export type FromStatusThread =
  /** It listens as the newest settings say. */
  | { readonly kind: 'listening'; readonly port: number }
  /** It does not. `still`: what holds where it listened before; `undefined`: it listens nowhere. */
  | { readonly kind: 'unheard'; readonly code: string; readonly still: StatusSettings | undefined }
  | { readonly kind: 'fileDigest?' }
  | {
      readonly kind: 'log';
      readonly level: 'warn' | 'error';
      readonly message: string;
      readonly fields: Record<string, unknown>;
    };

/** What holds at the address of before where the wanted one cannot be had: nobody is let in whom either of them keeps out for want of a token. */
export function stillAt({ host, port, tokenFile }: StatusSettings, wanted: StatusSettings): StatusSettings {
  return { ...wanted, host, port, tokenFile: wanted.tokenFile ?? tokenFile };
}

/** The settings without secrets, and without what only reading takes: patterns and templates cannot cross to a thread. */
export function settingsToLook(settings: Settings): Settings {
  const { destination, sources } = settings;
  return {
    ...settings,
    notify: [],
    heartbeat: undefined,
    destination: destination === 'emulator' ? destination : { ...destination, token: undefined, headers: {} },
    sources: sources.map(sourceToLook),
  };
}

function sourceToLook({ lookups: _lookups, ...source }: SourceSettings): SourceSettings {
  return {
    ...source,
    kind: undefined,
    mapping: {
      where: [],
      missing: [],
      fillDown: [],
      unpivot: undefined,
      maps: {},
      // What collapses readings is said in warnings; the templates beside it cannot cross.
      drivers: source.mapping.drivers.map(({ rule }) => ({ rule }) as DriverEntry),
    },
    lookups: { maps: {}, calendar: undefined },
    tests: [],
  };
}
