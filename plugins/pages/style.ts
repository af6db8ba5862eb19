/** The style sheet of all pages: the browser's own fonts and colours, light or dark. */
export const STYLE = `:root { color-scheme: light dark; --accent: light-dark(#2c6e3f, #8fd3a2);
  --line: light-dark(#767676, #8c8c8c); --danger: light-dark(#b3261e, #f2b8b5);
  accent-color: var(--accent); }
body { margin: 0 auto; padding: 1rem; max-width: 34rem; font: 1rem/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere; }
header a { color: inherit; font-weight: 600; text-decoration: none; }
header img { vertical-align: -.4rem; margin-right: .5rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; }
a, summary { color: var(--accent); }
:focus-visible { outline: .2rem solid var(--accent); outline-offset: .15rem; }
li { margin: .5rem 0; }
label { display: block; margin: 1rem 0 0; }
input:not([type='checkbox']), select { display: block; box-sizing: border-box; width: 100%;
  margin-top: .25rem; padding: .6rem; font: inherit; border: 1px solid var(--line);
  border-radius: .4rem; }
fieldset { margin: 1rem 0; padding: .5rem 1rem 1rem; border: 1px solid var(--line);
  border-radius: .4rem; }
input[type='checkbox'] { width: 1.2rem; height: 1.2rem; margin: 0 .5rem 0 0; vertical-align: -.2rem; }
button { min-height: 2.75rem; width: 100%; margin-top: 1rem; padding: 0 1rem; font: inherit;
  font-weight: 600; overflow-wrap: normal; border: 1px solid var(--accent); border-radius: .4rem;
  background: transparent; color: inherit; }
ul[role=list] { list-style: none; padding: 0; }
.entry { display: flex; align-items: center; justify-content: space-between; gap: 1rem; margin: 0; }
li.member { margin: 0; padding: .75rem 0 0; border-top: 1px solid var(--line); }
li.member details { margin: 0 0 .5rem; }
li.entry { padding: .75rem 0; border-top: 1px solid var(--line); }
.entry button { width: auto; margin: 0; white-space: nowrap; }
code { display: block; margin-top: .5rem; user-select: all; }
details { margin: 1rem 0; }
summary { padding: .6rem 0; font-weight: 600; cursor: pointer; }
button.danger { border-color: var(--danger); color: var(--danger); }
button.main { background: var(--accent); color: light-dark(#fff, #000); }
.fault, .done, .verified { padding: .5rem .75rem; border-left: .3rem solid var(--danger); }
.done, .verified { border-color: var(--accent); }
[hidden] { display: none !important; }
`;

/** A leaf, the icon of the service. */
export const SIGN = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">
<path fill="#3f9c5a" d="M21 3C11 3 4 7 4 14c0 2 .6 3.600 1.500 5C7 14 11 10 16 8c-4 3-7.500 7-8.500 12.500C9 21 10 21 11 21c8 0 10-9 10-18z"/>
</svg>
`;
