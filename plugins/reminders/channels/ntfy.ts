import type { Deliveries } from '../../deliveries';
import { GONE, type Means, POSTED_AT_ONCE } from './means';

const TAG = 'seedling';
/** The bytes of a word of RFC 2047, which may have 75 characters in base64. */
const WORD_BYTES = 45;

/** Posts to a topic of ntfy, or of a bridge that takes the same. */
export function ntfyMeans({ poster }: Deliveries): Means {
  return {
    channel: 'ntfy',
    concurrency: POSTED_AT_ONCE,
    send: async ({ url }, { title, text, link }) => {
      const headers = {
        'content-type': 'text/plain; charset=utf-8',
        title: headerText(title),
        tags: TAG,
        click: link,
      };
      const outcome = await poster.post(url ?? '', headers, text);
      return { ...outcome, isGone: outcome.status === GONE };
    },
  };
}

/** A text as a header may have it: beyond ASCII, in words of RFC 2047. */
function headerText(text: string): string {
  if (/^[ -~]*$/.test(text)) return text;
  const words = [''];
  for (const character of text) {
    const word = `${words.at(-1) ?? ''}${character}`;
    if (Buffer.byteLength(word) <= WORD_BYTES) words[words.length - 1] = word;
    else words.push(character);
  }
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join(' ');
}
