import { hostErrors } from '../core/errors';
import type { PortSetting, Settings } from '../core/settings';
import type { Operation } from '../plugins/operation';
import type { Plugin, SetUpPlugin } from '../plugins/plugin';
import type { ApiDescription, ProtocolEndpoint } from '../plugins/protocol-endpoint';

/** All that the API consists of, what has a port of its own left out. */
export function describeApi(plugins: readonly SetUpPlugin[], settings: Settings): ApiDescription {
  const manifests = plugins.map(({ plugin }) => plugin);
  return {
    operations: plugins.flatMap(({ operations }) => operations),
    protocols: protocolsOf(plugins).filter((each) => !hasOwnPort(each, settings)),
    tags: plugins.flatMap(({ plugin: { tag }, operations, contribution }) =>
      tag ? [{ ...tag, of: new Set([...operations, ...(contribution.protocols ?? [])]) }] : [],
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

/** The protocols that have a port of their own, by their settings. */
export function protocolsWithPorts(
  plugins: readonly SetUpPlugin[],
  settings: Settings,
): { ownPort: PortSetting<number | undefined>; endpoint: ProtocolEndpoint }[] {
  return protocolsOf(plugins).flatMap((endpoint) => {
    const { ownPort } = endpoint;
    return ownPort && hasOwnPort(endpoint, settings) ? [{ ownPort, endpoint }] : [];
  });
}

/** Scopes that plugins declare, each with what it permits. */
export function scopesOf(plugins: readonly Plugin[]): Map<string, string> {
  return new Map(plugins.flatMap((plugin) => Object.entries(plugin.scopes ?? {})));
}

function protocolsOf(plugins: readonly SetUpPlugin[]): ProtocolEndpoint[] {
  return plugins.flatMap(({ contribution }) => contribution.protocols ?? []);
}

function hasOwnPort({ ownPort }: ProtocolEndpoint, settings: Settings): boolean {
  return ownPort !== undefined && settings.of(ownPort) !== undefined;
}
