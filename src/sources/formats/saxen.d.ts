/** Types for the parts of saxen in use: it has none of its own. */
declare module 'saxen' {
  /** @returns `false` where the attributes cannot be parsed; values are as written, entities and all */
  type AttributeGetter = () => Readonly<Record<string, string>> | false;

  export class Parser {
    on(event: 'openTag', listener: (name: string, attributes: AttributeGetter) => void): this;
    on(event: 'closeTag', listener: (name: string) => void): this;
    on(event: 'text' | 'cdata' | 'attention', listener: (text: string) => void): this;
    /** Throws what a listener throws, and an Error where the text is not XML. */
    write(xml: string): this;
    end(): Error | null;
    parse(xml: string): Error | null;
  }
}
