/** The rules of a modality that the pipeline asks. */
import type { ResolvedInput } from '../../contract/routing-answers.ts';
import type { Model, Values } from './model.ts';

/** The rules for one request. Only `lackOf` may be called with models of another modality. */
export interface Rules<OneModel extends Model = Model> {
  /** What the model cannot do, such as "a source video"; undefined if it can do all. */
  readonly lackOf: (model: OneModel) => string | undefined;
  /** Which constraint of the input the model does not support, such as "duration 30". */
  readonly limitOf: (model: OneModel) => string | undefined;
  readonly needsPrompt: (model: OneModel) => boolean;
  /** Credits for all outputs of the request. */
  readonly estimate: (model: OneModel) => number;
  readonly resolve: (model: OneModel) => ResolvedInput;
}

export function allows(values: Values, value: number): boolean {
  return Array.isArray(values) ? values.includes(value) : value >= values.min && value <= values.max;
}

/** The smallest allowed value that is not below the wanted one, or else the largest. */
export function nearestTo(values: Values, wanted: number): number {
  if (!Array.isArray(values)) return Math.min(Math.max(wanted, values.min), values.max);
  const above = values.filter((value) => value >= wanted);
  return above.length > 0 ? Math.min(...above) : Math.max(...values);
}

/** Removes rounding errors of floating point: prices have at most two decimals, durations one. */
export function roundCredits(credits: number): number {
  return Math.round(credits * 10_000) / 10_000;
}
