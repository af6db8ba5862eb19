/** Marks in `User-Agent`; browsers that also claim to be others come first. */
const BROWSERS = {
  Edg: 'Edge',
  OPR: 'Opera',
  SamsungBrowser: 'Samsung Internet',
  Firefox: 'Firefox',
  FxiOS: 'Firefox',
  CriOS: 'Chrome',
  Chrome: 'Chrome',
  Safari: 'Safari',
};
const SYSTEMS = {
  iPhone: 'iPhone',
  iPad: 'iPad',
  Android: 'Android',
  Windows: 'Windows',
  Macintosh: 'Mac',
  Linux: 'Linux',
};

/** The name of a browser and its system, in fixed words; empty if unknown. */
export function browserName(userAgent: string): string {
  const names = [BROWSERS, SYSTEMS].flatMap((known) => {
    const found = Object.entries(known).find(([mark]) => userAgent.includes(mark));
    return found ? [found[1]] : [];
  });
  return names.join(', ');
}
