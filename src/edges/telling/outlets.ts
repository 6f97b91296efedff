/** Everybody whom a config names to be told. */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { ChannelSettings, Settings } from '../../core/settings.ts';
import type { Channel, Outlets } from '../../core/telling/notice.ts';
import type { Environment } from '../../http/connection.ts';
import { sendHeartbeat, sendToHook } from './hook.ts';
import { sendMail } from './mail.ts';

/** @param env for `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, upper or lower case */
export function openOutlets(
  { notify, heartbeat }: Pick<Settings, 'notify' | 'heartbeat'>,
  env: Environment = process.env,
): Outlets {
  const ids = numbered();
  const names = numbered();
  return {
    host: hostname(),
    channels: notify.map((settings) => {
      const place = placeOf(settings);
      return openChannel(settings, { id: ids(`${place} ${digestOf(settings)}`), name: names(place), place }, env);
    }),
    heartbeat: heartbeat === undefined ? undefined : (signal) => sendHeartbeat(heartbeat, env, signal),
  };
}

/** Gives each text but the first of its kind a number. */
function numbered(): (text: string) => string {
  const counts = new Map<string, number>();
  return (text) => {
    const count = (counts.get(text) ?? 0) + 1;
    counts.set(text, count);
    return count === 1 ? text : `${text} (${count})`;
  };
}

function openChannel(
  settings: ChannelSettings,
  names: Required<Pick<Channel, 'id' | 'name' | 'place'>>,
  env: Environment,
): Channel {
  return {
    ...names,
    on: settings.on,
    deliver: (notice, key, signal) =>
      settings.kind === 'hook'
        ? sendToHook(settings, { notice, key }, { env, signal })
        : sendMail(settings, { notice, key }, signal),
  };
}

/** The host alone: the rest of a hook's address is a secret, and all hooks of Slack have one host. */
function placeOf(settings: ChannelSettings): string {
  if (settings.kind === 'mail') return `e-mail to ${settings.to.join(', ')}`;
  const { host } = new URL(settings.url);
  return `${settings.format === 'json' ? 'hook' : settings.format} ${host}`;
}

/** Tells channels of one host apart, and gives no secret away. */
function digestOf(settings: ChannelSettings): string {
  const address = settings.kind === 'mail' ? [settings.smtp, settings.to] : [settings.url, settings.format];
  return createHash('sha256').update(JSON.stringify(address)).digest('hex').slice(0, 12);
}
