/** Requests to the emulator's own paths, whose body is JSON. */
import { z } from 'zod';
import { answerJson, refuse } from './answers.ts';
import { invalid } from './routing/refusal.ts';
import { answerOf } from './routing/wire.ts';

/** Answers with what `act` makes of the body. A body that does not fit and a `Refusal` become the answer; no body is `{}`. */
export async function actingOn(request: Request, act: (body: unknown) => object | Promise<object>): Promise<Response> {
  const text = await request.text();
  let body: unknown;
  try {
    body = text === '' ? {} : JSON.parse(text);
  } catch (error) {
    return refuse(400, `not JSON: ${(error as Error).message}`);
  }
  try {
    return answerJson(await act(body));
  } catch (error) {
    return answerOf(error instanceof z.ZodError ? invalid(error.issues) : error);
  }
}
