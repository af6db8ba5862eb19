import { createRequire } from 'node:module';

import type * as OidcProvider from 'oidc-provider';

export type Library = typeof OidcProvider;

let loaded: Library | undefined;

/** The library, loaded when it is first needed, since that takes 0.2 s. */
export function loadLibrary(): Library {
  if (loaded) return loaded;
  const { warn } = console;
  // It warns about Node 20, with which it works, and has no option against that.
  console.warn = () => undefined;
  try {
    loaded = createRequire(__filename)('oidc-provider') as Library; // Its own types.
  } finally {
    console.warn = warn;
  }
  return loaded;
}
