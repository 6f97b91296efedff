/** Requests to the emulator's own paths, whose body is JSON. */
import { z } from 'zod';
import { answerJson } from './answers.ts';
import { JsonProblem, parseOnce } from './json-once.ts';
import { invalid, Refusal } from './routing/refusal.ts';
import { answerOf } from './routing/wire.ts';

/**
 * Answers with what `act` makes of the body. A body that does not fit and a `Refusal` become the answer.
 * @param noBody the JSON that no body stands for. Default: no body is refused
 */
export async function actingOn(
  request: Request,
  act: (body: unknown) => object | Promise<object>,
  noBody = '',
): Promise<Response> {
  try {
    return answerJson(await act(await bodyOf(request, noBody)));
  } catch (error) {
    return answerOf(error instanceof z.ZodError ? invalid(error.issues) : error);
  }
}

/** @throws Refusal 400 */
export async function bodyOf(request: Request, noBody = ''): Promise<unknown> {
  const bytes = new Uint8Array(await request.arrayBuffer());
  try {
    return parseOnce(bytes.length === 0 ? Buffer.from(noBody) : bytes);
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    throw new Refusal(400, { error: error.message });
  }
}

/** Answers with what `act` returns, or with its `Refusal`. */
export function orRefusal(act: () => Response): Response {
  try {
    return act();
  } catch (error) {
    return answerOf(error);
  }
}
