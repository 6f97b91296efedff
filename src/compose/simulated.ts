/** The simulated world of a config, with the real schedule. */
import type { Settings } from '../core/settings.ts';
import { nextDue, previousDue } from '../edges/schedule.ts';
import { stageFor } from '../simulate/stage.ts';

export function openStage(settings: Settings): ReturnType<typeof stageFor> {
  return stageFor(settings, { nextDue, previousDue });
}
