/** What was typed with nothing in it. */
import type { Command } from 'commander';
import { AgentError } from '../core/errors.ts';

/**
 * What is empty is nearly always a variable that was not set, and an empty path would stand for the directory one is in.
 * @throws AgentError `usage`
 */
export function refuseEmpty(made: Command): void {
  const isEmpty = (value: unknown): boolean => [value].flat().some((text) => typeof text === 'string' && !text.trim());
  const option = made.options.find((one) => isEmpty(made.getOptionValue(one.attributeName())));
  if (option !== undefined)
    throw new AgentError('usage', `${option.long} is empty`, { hint: 'give it a value, or leave it out' });
  // "approve" says which digests there are.
  const argument = made.registeredArguments.find(
    (one, index) => one.name() !== 'digest' && isEmpty(made.processedArgs[index]),
  );
  if (argument !== undefined) throw new AgentError('usage', `argument '${argument.name()}' is empty`);
}
