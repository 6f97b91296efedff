/** The simulated world of a config, with the real schedule and the real part of an agent in an election. */
import { AgentError } from '../core/errors.ts';
import type { Settings } from '../core/settings.ts';
import { nextDue, previousDue } from '../edges/schedule.ts';
import { SharedLead } from '../edges/shared/lead.ts';
import type { OpenLead } from '../simulate/machines/shared-part.ts';
import { stageFor } from '../simulate/stage.ts';

export function openStage(settings: Settings): ReturnType<typeof stageFor> {
  return stageFor(settings, { nextDue, previousDue }, openLead);
}

const nothing = async (): Promise<void> => undefined;

const openLead: OpenLead = (rows, around) =>
  new SharedLead(rows, {
    ...around,
    pid: 1,
    // Tables of another version are not simulated.
    schema: {
      version: 1,
      ensure: nothing,
      refuseNewer: () => undefined,
      older: () => new AgentError('state.older', 'the tables are of an older version'),
      migrate: nothing,
    },
    prepare: nothing,
  });
