/** WebAssembly, which the types of Node do not name. */

/** Grows by pages of 64 KB. What was its buffer is empty then. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

interface WebAssemblyGlobal {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => WasmMemory;
}

const { Module, Instance, Memory } = (globalThis as unknown as { WebAssembly: WebAssemblyGlobal }).WebAssembly;

/** By program: compiling one takes 1 ms. */
const compiled = new Map<string, object>();

/**
 * What a program gives to be called.
 * @param program in base64, as `npm run kernels` writes it
 * @param memory that it works on
 */
export function startProgram<Exports>(program: string, memory: WasmMemory): Exports {
  let module = compiled.get(program);
  if (module === undefined) {
    module = new Module(Buffer.from(program, 'base64'));
    compiled.set(program, module);
  }
  return new Instance(module, { env: { memory } }).exports as Exports;
}

export const wasmPageBytes = 65_536;
/** 4 GB, which is all that an address of 32 bits reaches. */
const pagesMax = 65_536;

export function newWasmMemory(): WasmMemory {
  return new Memory({ initial: 1, maximum: pagesMax });
}
