import { hostErrors } from '../core/errors';
import type { PortSetting, Settings } from '../core/settings/settings';
import type { Operation } from '../plugins/operation';
import { scopesOf, type SetUpPlugin } from '../plugins/plugin';
import type { ApiDescription, ProtocolEndpoint } from '../plugins/protocol-endpoint';

/** Returns the API without the parts that have a port of their own. */
export function describeApi(plugins: readonly SetUpPlugin[], settings: Settings): ApiDescription {
  const manifests = plugins.map(({ plugin }) => plugin);
  return {
    operations: operationsOf(plugins).filter((each) => !hasOwnPort(each, settings)),
    protocols: protocolsOf(plugins).filter((each) => !hasOwnPort(each, settings)),
    tags: plugins.flatMap(({ plugin: { tag }, operations, contribution }) =>
      tag ? [{ ...tag, of: new Set([...operations, ...(contribution.protocols ?? [])]) }] : [],
    ),
    scopes: scopesOf(manifests),
    errors: [...hostErrors, ...manifests.flatMap(({ errors = [] }) => errors)],
    instructions: manifests.flatMap(({ instructions = [] }) => instructions),
  };
}

export interface ApiPart extends Pick<ApiDescription, 'operations' | 'protocols'> {
  ownPort: PortSetting<number | undefined>;
}

/** Returns the parts of the API whose own port is set. */
export function partsWithPorts(plugins: readonly SetUpPlugin[], settings: Settings): ApiPart[] {
  const operations = operationsOf(plugins).filter((each) => hasOwnPort(each, settings));
  const protocols = protocolsOf(plugins).filter((each) => hasOwnPort(each, settings));
  const ports = new Set([...operations, ...protocols].flatMap(({ ownPort }) => ownPort ?? []));
  return [...ports].map((ownPort) => ({
    ownPort,
    operations: operations.filter((each) => each.ownPort === ownPort),
    protocols: protocols.filter((each) => each.ownPort === ownPort),
  }));
}

function operationsOf(plugins: readonly SetUpPlugin[]): Operation[] {
  return plugins.flatMap(({ operations }) => operations);
}

function protocolsOf(plugins: readonly SetUpPlugin[]): ProtocolEndpoint[] {
  return plugins.flatMap(({ contribution }) => contribution.protocols ?? []);
}

function hasOwnPort({ ownPort }: Partial<ApiPart>, settings: Settings): boolean {
  return ownPort !== undefined && settings.of(ownPort) !== undefined;
}
