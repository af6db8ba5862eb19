/** The style sheet of the garden, beside that of all pages. */
export const STYLE = `:root { --quiet: light-dark(#595959, #b0b0b0); --soft: light-dark(#eef5f0, #1d2a21);
  --water: light-dark(#2563a8, #7db4ee); --empty: light-dark(#e4e4e4, #3a3a3a); }
body { max-width: 70rem; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: center;
  justify-content: space-between; }
nav { display: flex; gap: 1.25rem; }
nav [aria-current] { font-weight: 600; text-decoration: none; color: inherit; }
nav a { display: inline-block; padding: .6rem 0; font-weight: 400; text-decoration: underline; }
small { color: var(--quiet); font-size: .9rem; }
.late { color: var(--danger); }
h2 { margin-top: 1.5rem; }
h3 { margin: 1rem 0 0; font-size: 1rem; }
ul[role=list] { margin: .5rem 0; }
li.care, li.plant, li.entry { margin: 0; padding: .75rem 0; border-top: 1px solid var(--line); }
#device:focus { outline: none; }
#device form { margin: 0; }
li.care form { display: flex; gap: .5rem; margin-top: .5rem; }
li.care button { flex: 1; width: auto; margin: 0; padding: 0 .5rem; }
li.done { padding: .75rem; background: var(--soft); border-left: .3rem solid var(--accent);
  scroll-margin-top: 35vh; }
li.done:focus { outline: none; }
li.done button { border-color: var(--accent); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); gap: 0 1.5rem; }
li.plant { display: flex; align-items: center; gap: .75rem; }
.thumb { flex: none; width: 4rem; height: 4rem; overflow: hidden; border-radius: .5rem;
  background: var(--soft) url('/favicon.ico') center / 2rem no-repeat; }
.thumb > * { display: block; position: relative; width: 100%; height: 100%; object-fit: cover; }
.thumb img::after { content: ''; position: absolute; inset: 0;
  background: var(--soft) url('/favicon.ico') center / 2rem no-repeat; }
.photo { width: auto; max-width: 100%; height: auto; max-height: 24rem; border-radius: .5rem; }
.pages { display: flex; flex-wrap: wrap; gap: 0 1.5rem; }
.pages a { padding: .6rem 0; }
form[role=search] { max-width: 34rem; margin-bottom: 1rem; }
form[role=search] .entry { align-items: stretch; }
details form { max-width: 34rem; }
textarea { box-sizing: border-box; width: 100%; margin-top: .25rem; padding: .6rem; font: inherit;
  border: 1px solid var(--line); border-radius: .4rem; }
figure { margin: .5rem 0; }
figure > svg { display: block; width: 100%; max-width: 34rem; }
figcaption { margin-top: .5rem; color: var(--quiet); font-size: .9rem; }
svg text { font-size: 10px; fill: var(--quiet); }
.middle { text-anchor: middle; }
rect { rx: 2px; fill: var(--empty); }
rect.watered { fill: var(--water); }
circle { fill: var(--accent); stroke: Canvas; stroke-width: 1; }
.key { width: .8rem; height: .8rem; vertical-align: -.05rem; }
@media (min-width: 48rem) {
  .columns { display: grid; grid-template: min-content min-content 1fr / 3fr 2fr; gap: 0 3rem; }
  .columns > section { grid-column: 1; }
  .columns > .log { grid-area: 1 / 2 / span 3; }
  li.care { display: flex; align-items: center; justify-content: space-between; gap: 1rem; }
  li.care form { flex: none; margin: 0; }
  li.care button { flex: none; }
  section > form:not([role]) button, #device form button { width: auto; }
}
`;
