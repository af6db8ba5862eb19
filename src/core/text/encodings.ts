/** A text in an encoding that is not read; the message says which, as far as that can be known. */
export class EncodingFault extends Error {
  constructor(what: string) {
    super(`is ${what}; it must be UTF-8, or UTF-16 with a byte order mark`);
  }
}

/** Byte order marks; that of UTF-32 begins like one of UTF-16. */
const MARKS = [
  { encoding: 'UTF-32', mark: [0xff, 0xfe, 0, 0] },
  { encoding: 'UTF-32', mark: [0, 0, 0xfe, 0xff] },
  { encoding: 'UTF-8', mark: [0xef, 0xbb, 0xbf] },
  { encoding: 'UTF-16LE', mark: [0xff, 0xfe] },
  { encoding: 'UTF-16BE', mark: [0xfe, 0xff] },
] as const;

/**
 * Decodes text as spreadsheets write it: UTF-8, or UTF-16 with a byte order mark.
 *
 * @throws EncodingFault
 */
export function decodedText(bytes: Uint8Array): string {
  const marked = MARKS.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte));
  const encoding = marked?.encoding ?? 'UTF-8';
  if (encoding === 'UTF-32') throw new EncodingFault(encoding);
  // Each Latin letter of the heading has a zero byte.
  const isUnmarked = !marked && (bytes[0] === 0 || bytes[1] === 0);
  if (isUnmarked) throw new EncodingFault('UTF-16 without a byte order mark');
  try {
    // It removes the mark.
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new EncodingFault(
      marked
        ? `damaged ${encoding}`
        : 'not UTF-8 but probably Windows-1252, or another encoding with a byte for each character',
    );
  }
}
