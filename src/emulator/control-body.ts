/** Requests to the emulator's own paths, whose body is JSON. */
import { z } from 'zod';
import { answerJson, refuse } from './answers.ts';
import { invalid } from './routing/refusal.ts';
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
  const text = await request.text();
  let body: unknown;
  try {
    body = JSON.parse(text === '' ? noBody : text);
  } catch (error) {
    return refuse(400, `not JSON: ${(error as Error).message}`);
  }
  try {
    return answerJson(await act(body));
  } catch (error) {
    return answerOf(error instanceof z.ZodError ? invalid(error.issues) : error);
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
