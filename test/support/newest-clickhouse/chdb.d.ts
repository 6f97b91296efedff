/** What the server here uses of its library, so that types pass where it is not installed. */
declare module 'chdb' {
  export class Session {
    constructor(folder: string);
    query(sql: string, format?: string): string;
    queryStream(sql: string, options: { readonly format: string }): Rows;
  }
  interface Rows extends AsyncIterable<{ raw(): Uint8Array }> {
    cancel(): void;
  }
}
