import secureJson from 'secure-json-parse';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Says what is wrong with a text of JSON, to complete a sentence: "is not valid UTF-8". */
export class JsonFault extends Error {}

/**
 * Parses the bytes of a text of JSON strictly: valid UTF-8, no keys that would touch prototypes.
 *
 * @throws JsonFault
 */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new JsonFault('is not valid UTF-8');
  }
  try {
    return secureJson.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError && error.message.includes('forbidden prototype')) {
      throw new JsonFault('must not contain the keys __proto__ or constructor');
    }
    throw new JsonFault('is not valid JSON', { cause: error });
  }
}
