/** Everybody whom a config names to be told. */
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
  const names = new Map<string, number>();
  return {
    host: hostname(),
    channels: notify.map((settings) => {
      const name = nameOf(settings);
      const count = (names.get(name) ?? 0) + 1;
      names.set(name, count);
      return openChannel(settings, count === 1 ? name : `${name} (${count})`, env);
    }),
    heartbeat: heartbeat === undefined ? undefined : (signal) => sendHeartbeat(heartbeat, env, signal),
  };
}

function openChannel(settings: ChannelSettings, name: string, env: Environment): Channel {
  return {
    name,
    on: settings.on,
    deliver: (notice, key, signal) =>
      settings.kind === 'hook'
        ? sendToHook(settings, { notice, key }, { env, signal })
        : sendMail(settings, { notice, key }, signal),
  };
}

/** The host alone: the rest of a hook's address is a secret. With another secret it is still the same channel. */
function nameOf(settings: ChannelSettings): string {
  if (settings.kind === 'mail') return `e-mail to ${settings.to.join(', ')}`;
  const { host } = new URL(settings.url);
  return `${settings.format === 'json' ? 'hook' : settings.format} ${host}`;
}
