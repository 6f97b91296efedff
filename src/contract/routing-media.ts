/** The wire format of model routing: media URIs. They are checked as text; nothing is fetched. */
import { z } from 'zod';

const httpsCharactersMax = 2_048;
const uploadCharactersMax = 5_000;
const dataCharactersMax = 5 * 1_024 * 1_024;
const shortestCharacters = 13;

/**
 * An output of the emulator, at whatever address it was read. The live service's outputs are `https://` links, so a client
 * that passes one on as an input must be able to do it here too, where links are `http://` and may name an IP address.
 */
const emulatedOutput = /^https?:\/\/[^\s/?#]+\/media\/[0-9a-f-]{36}\/\d+\.(?:png|mp4|wav)(?:\?[^#]*)?$/;

type MediaKind = 'image' | 'video' | 'audio';

/** The problem of a URI, or undefined. Only the beginning of a data URI is read, since it may be long. */
function faultOf(uri: string, kind: MediaKind): string | undefined {
  if (uri.startsWith('data:')) return faultOfData(uri, kind);
  if (emulatedOutput.test(uri.slice(0, httpsCharactersMax + 1))) return lengthFault(uri, httpsCharactersMax);
  if (uri.startsWith('runway://')) return lengthFault(uri, uploadCharactersMax);
  if (uri.startsWith('https://')) return lengthFault(uri, httpsCharactersMax) ?? faultOfHost(uri);
  return `must begin with https://, runway:// or data:${kind}/`;
}

function lengthFault(uri: string, charactersMax: number): string | undefined {
  if (uri.length < shortestCharacters) {
    return `must have at least ${shortestCharacters} characters and has ${uri.length}`;
  }
  return uri.length > charactersMax ? `must have at most ${charactersMax} characters and has ${uri.length}` : undefined;
}

function faultOfData(uri: string, kind: MediaKind): string | undefined {
  if (!uri.startsWith(`data:${kind}/`)) return `must be data:${kind}/ where it is a data URI`;
  if (!/^data:[a-z]+\/[\w.+-]{1,100}(?:;[\w.+=-]{1,100})*,./.test(uri.slice(0, 1_000)))
    return `must be of the form data:${kind}/<type>;base64,<data>`;
  return lengthFault(uri, dataCharactersMax);
}

function faultOfHost(uri: string): string | undefined {
  const host = URL.parse(uri)?.hostname;
  if (host === undefined) return 'must be a valid URL';
  return host.startsWith('[') || /^[\d.]+$/.test(host) ? 'must name a host, not an IP address' : undefined;
}

const extensions = { image: 'png', video: 'mp4', audio: 'mp3' } as const;

function mediaUri(kind: MediaKind) {
  return z
    .string()
    .check(({ value, issues }) => {
      const message = faultOf(value, kind);
      if (message !== undefined) issues.push({ code: 'invalid_format', format: 'media_uri', message, input: value });
    })
    .meta({
      // What the description of the interface can say of the check.
      pattern: `^(https://|runway://|data:${kind}/|http://[^/]+/media/[0-9a-f-]{36}/)`,
      minLength: shortestCharacters,
      maxLength: dataCharactersMax,
      examples: [`https://example.com/a.${extensions[kind]}`, `data:${kind}/${extensions[kind]};base64,AAAA`],
    });
}

/** `https://` (a host, no IP address), `runway://` (an upload), an output of the emulator or `data:` of the same kind, up to 5 MiB. */
export const mediaUriSchemas = { image: mediaUri('image'), video: mediaUri('video'), audio: mediaUri('audio') };
