import { hostErrors } from '../core/errors';
import type { PortSetting, Settings } from '../core/settings';
import type { Operation } from '../plugins/operation';
import type { Plugin, SetUpPlugin } from '../plugins/plugin';
import type { ApiDescription, Transport } from '../plugins/transport';

/** All that the API consists of, what has a port of its own left out. */
export function describeApi(plugins: readonly SetUpPlugin[], settings: Settings): ApiDescription {
  const manifests = plugins.map(({ plugin }) => plugin);
  return {
    operations: plugins.flatMap(({ operations }) => operations),
    transports: transportsOf(plugins).filter((each) => !hasOwnPort(each, settings)),
    tags: plugins.flatMap(({ plugin: { tag }, operations, contribution }) =>
      tag ? [{ ...tag, of: new Set([...operations, ...(contribution.transports ?? [])]) }] : [],
    ),
    scopes: scopesOf(manifests),
    errors: [...hostErrors, ...manifests.flatMap(({ errors = [] }) => errors)],
    instructions: manifests.flatMap(({ instructions = [] }) => instructions),
  };
}

/** What operators' own programs ask again and again. */
export function probesOf({ operations }: ApiDescription): Operation[] {
  return operations.filter(({ isProbe }) => isProbe);
}

/** The transports that have a port of their own, by their settings. */
export function transportsWithPorts(
  plugins: readonly SetUpPlugin[],
  settings: Settings,
): { ownPort: PortSetting<number | undefined>; transport: Transport }[] {
  return transportsOf(plugins).flatMap((transport) => {
    const { ownPort } = transport;
    return ownPort && hasOwnPort(transport, settings) ? [{ ownPort, transport }] : [];
  });
}

/** Scopes that plugins declare, each with what it permits. */
export function scopesOf(plugins: readonly Plugin[]): Map<string, string> {
  return new Map(plugins.flatMap((plugin) => Object.entries(plugin.scopes ?? {})));
}

function transportsOf(plugins: readonly SetUpPlugin[]): Transport[] {
  return plugins.flatMap(({ contribution }) => contribution.transports ?? []);
}

function hasOwnPort({ ownPort }: Transport, settings: Settings): boolean {
  return ownPort !== undefined && settings.of(ownPort) !== undefined;
}
