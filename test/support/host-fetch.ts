const { fetch } = globalThis;

/** Redirects the program's requests to an origin to another one, at any address. */
export function fetchFrom(origin: string, instead: string): void {
  globalThis.fetch = (url, options) => {
    const asked = url instanceof Request ? url.url : String(url);
    if (!asked.startsWith(origin)) return fetch(url, options);
    // Other options include the guard against private addresses.
    const { method, headers, redirect, signal } = options ?? {};
    const kept = { method, headers, redirect, signal };
    const given = Object.fromEntries(
      Object.entries(kept).filter(([, value]) => value !== undefined),
    );
    return fetch(asked.replace(origin, instead), given);
  };
}

export function fetchAsIs(): void {
  globalThis.fetch = fetch;
}
