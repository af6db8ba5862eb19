/** What keeps somebody from using the page that is shown who sees little of it, or nothing. */
export function barriers() {
  const found = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const overflow = document.documentElement.scrollWidth - innerWidth;
  if (overflow > 0) found.push(`it is ${overflow} pixels too wide`);
  if (all('h1').length !== 1) found.push(`it has ${all('h1').length} first headings`);
  if (!document.title) found.push('it has no title');
  const ids = all('[id]').map(({ id }) => id);
  if (new Set(ids).size < ids.length) found.push('ids are there twice');
  for (const field of all('input:not([type=hidden], [hidden]), select, textarea')) {
    if (field.labels.length === 0) found.push(`${field.name} has no label`);
  }
  for (const button of all('button')) {
    if (!button.textContent.trim()) found.push('a button has no name');
    const { height } = button.getBoundingClientRect();
    if (height > 0 && height < 44) found.push(`${button.textContent} is ${height} pixels high`);
  }
  return found;
}
