/** What browsers and systems call themselves, those first that pretend to be others too. */
const BROWSERS = {
  ...{ Edg: 'Edge', OPR: 'Opera', SamsungBrowser: 'Samsung Internet' },
  ...{ Firefox: 'Firefox', FxiOS: 'Firefox', CriOS: 'Chrome', Chrome: 'Chrome', Safari: 'Safari' },
};
const SYSTEMS = {
  ...{ iPhone: 'iPhone', iPad: 'iPad', Android: 'Android', Windows: 'Windows' },
  ...{ Macintosh: 'Mac', Linux: 'Linux' },
};

/** What a person knows a browser by, of fixed words alone; empty where it is none of the usual ones. */
export function browserName(userAgent: string): string {
  const names = [BROWSERS, SYSTEMS].flatMap((known) => {
    const found = Object.entries(known).find(([mark]) => userAgent.includes(mark));
    return found ? [found[1]] : [];
  });
  return names.join(', ');
}
