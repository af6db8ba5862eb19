/** `@types/negotiator` does not know `preferred`. */
declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { headers: object });
    /** @param options.preferred the order of those that the client wants equally */
    encodings(available: readonly string[], options: { preferred: readonly string[] }): string[];
  }
}
