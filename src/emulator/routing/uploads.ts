/** Uploads: a client asks for a place, posts a form with the file there, and names it in requests as `runway://`. */
import { createHash, randomUUID } from 'node:crypto';
import type { UploadAnswer } from '../../contract/routing-resources.ts';
import type { EmulatorClock } from './clock.ts';
import { notFound, Refusal } from './refusal.ts';
import type { RoutingStore, Shelf } from './store.ts';

/** How long a place can be used, and how long its `runway://` URI can be used after the upload. */
const uploadLifeMs = 24 * 60 * 60 * 1000;

/** The file itself is not kept: nothing here reads media. */
interface Upload {
  readonly id: string;
  readonly seq: number;
  readonly filename: string;
  /** The form must send it, so that only the client that asked can use the place. */
  readonly policy: string;
  readonly createdMs: number;
  readonly file: { readonly bytes: number; readonly sha256: string; readonly type: string } | null;
}

export class Uploads {
  readonly #store: RoutingStore;
  readonly #clock: EmulatorClock;
  readonly #shelf: Shelf<Upload>;

  constructor(store: RoutingStore, clock: EmulatorClock) {
    this.#store = store;
    this.#clock = clock;
    this.#shelf = store.shelf<Upload>('upload');
  }

  create(filename: string, origin: string): UploadAnswer {
    const nowMs = this.#clock.now();
    const id = randomUUID();
    const policy = randomUUID();
    this.#store.change(() => {
      for (const { id: old, createdMs } of this.#shelf.values()) {
        if (nowMs - createdMs > uploadLifeMs) this.#shelf.delete(old);
      }
      this.#shelf.set({ id, seq: this.#store.nextSeq(), filename, policy, createdMs: nowMs, file: null });
    });
    return { uploadUrl: `${origin}/uploads/${id}`, fields: { key: id, policy }, runwayUri: `runway://${id}` };
  }

  /** @throws Refusal 400 if the form lacks its fields, 404 if the place does not exist or has expired; what `beforeChange` throws. */
  async receive(id: string, body: Response, beforeChange: () => void): Promise<void> {
    const upload = this.#shelf.get(id);
    if (upload === undefined || this.#clock.now() - upload.createdMs > uploadLifeMs)
      throw notFound('there is no such upload');
    const form = await body.formData().catch((cause: unknown) => {
      throw new Refusal(400, { error: `not multipart/form-data: ${(cause as Error).message}` });
    });
    if (form.get('key') !== id || form.get('policy') !== upload.policy) {
      throw new Refusal(400, { error: 'the form must have the fields that POST /v1/uploads gave' });
    }
    const file = form.get('file');
    if (file === null || typeof file === 'string') throw new Refusal(400, { error: 'the form must have a file' });
    const bytes = Buffer.from(await file.arrayBuffer());
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    beforeChange();
    this.#store.change(() => {
      this.#shelf.set({ ...upload, file: { bytes: bytes.length, sha256, type: file.type } });
    });
  }

  get isEmpty(): boolean {
    return this.#shelf.size === 0;
  }

  /** Within a change. */
  clear(): void {
    for (const { id } of this.#shelf.values()) this.#shelf.delete(id);
  }
}
