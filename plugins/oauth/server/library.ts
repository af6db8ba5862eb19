import { createRequire } from 'node:module';

import type * as OidcProvider from 'oidc-provider';

export type Library = typeof OidcProvider;

let loaded: Library | undefined;

/** The library, once there is a need for it: it takes a fifth of a second to load. */
export function loadLibrary(): Library {
  if (loaded) return loaded;
  const { warn } = console;
  // It says that it wants another Node, though it runs on all that the program does.
  console.warn = () => undefined;
  try {
    loaded = createRequire(__filename)('oidc-provider') as Library; // Its own types.
  } finally {
    console.warn = warn;
  }
  return loaded;
}
