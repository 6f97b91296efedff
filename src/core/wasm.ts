/** WebAssembly, which the types of Node do not name. */

/** Grows by pages of 64 KB. What was its buffer is empty then. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

interface WebAssemblyGlobal {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

/** By program: compiling one takes 1 ms. */
const compiled = new Map<string, object>();

/**
 * What a program gives to be called, with a memory of its own.
 * @param program in base64, as `npm run kernels` writes it
 */
export function startProgram<Exports extends { readonly memory: WasmMemory }>(program: string): Exports {
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: WebAssemblyGlobal }).WebAssembly;
  let module = compiled.get(program);
  if (module === undefined) {
    module = new Module(Buffer.from(program, 'base64'));
    compiled.set(program, module);
  }
  return new Instance(module).exports as Exports;
}

export const wasmPageBytes = 65_536;
