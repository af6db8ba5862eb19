/** A piece of HTML that is safe to send: what was filled in is text. */
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

/** HTML with values filled in, each as text unless it is HTML itself. */
export function markup(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(String.raw({ raw: strings }, ...parts.map(textOf)));
}

function textOf(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.text;
  if (typeof part !== 'string') return part.map(({ text }) => text).join('\n');
  return part.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

/** The style of all pages; the browser's own fonts and colours, light or dark as the person has it. */
export const STYLE = `:root { color-scheme: light dark; --accent: light-dark(#2c6e3f, #8fd3a2); }
body { margin: 0 auto; padding: 1rem; max-width: 26rem; font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; line-height: 1.25; }
label { display: block; margin: 1rem 0 0; }
input:not([type='checkbox']) { display: block; box-sizing: border-box; width: 100%; margin-top: .25rem;
  padding: .6rem; font: inherit; }
fieldset { margin: 1rem 0; padding: .5rem 1rem 1rem; border: 1px solid; border-radius: .4rem; }
input[type='checkbox'] { width: 1.2rem; height: 1.2rem; margin: 0 .5rem 0 0; vertical-align: -.2rem; }
button { min-height: 2.75rem; width: 100%; margin-top: 1rem; font: inherit; font-weight: 600;
  border: 1px solid var(--accent); border-radius: .4rem; background: transparent; color: inherit; }
button.main { background: var(--accent); color: light-dark(#fff, #000); }
.fault { padding: .5rem .75rem; border-left: .3rem solid light-dark(#b3261e, #f2b8b5); }
[hidden] { display: none !important; }
`;
