/** Paths of the config, which no shell reads. */
import { z } from 'zod';
import { shellPathProblem } from '../core/text.ts';

/** The path of a file of this machine, relative to the config file. */
export const filePath = z
  .string()
  .min(1)
  .superRefine((text, context) => {
    const problem = shellPathProblem(text);
    if (problem === undefined) return;
    context.addIssue({ code: 'custom', message: problem.message, params: { hint: problem.hint } });
  });
