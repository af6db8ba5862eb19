/** Safe HTML. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = string | Html | readonly Html[] | undefined | false;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Creates HTML from a template; strings in it are escaped. */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(textOf)));
}

function textOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part !== 'string') return part.map(({ text }) => text).join('\n');
  return part.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}
