/** A text that is made while it is sent. */
export class TextStream {
  constructor(
    readonly type: string,
    readonly pieces: AsyncIterable<string>,
  ) {}
}
