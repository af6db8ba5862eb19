const { fetch } = globalThis;

/** Has the program, when it asks an origin for something, ask another instead, wherever that is. */
export function fetchFrom(origin: string, instead: string): void {
  globalThis.fetch = (url, options) => {
    const asked = url instanceof Request ? url.url : String(url);
    if (!asked.startsWith(origin)) return fetch(url, options);
    // What guards against addresses of this machine comes with the options.
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
