import { createRequire } from 'node:module';

import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Context } from 'koa';

import { calendarOf } from '../../src/core/time';
import {
  ApiError,
  internalError,
  invalidJson,
  methodNotAllowed,
  validationError,
} from '../../src/core/errors';
import { hostSettings } from '../../src/core/settings/host-settings';
import type { Garden, Principal } from '../../src/core/identity';
import { PROJECT } from '../../src/core/settings/project';
import { isRecord } from '../../src/core/values';
import type { Host } from '../../src/plugins/host';
import { toolScopes } from '../../src/plugins/operation-facts';
import type { ApiDescription, ProtocolApi } from '../../src/plugins/protocol-endpoint';
import { authenticate, scopeChallenge, tokenRefusal } from './access';
import { allowedOriginsSetting, Origins } from './origins';
import type * as Protocol from './protocol';
import type { Reply } from './protocol/exchange';
import { type CatalogTool, ToolCatalog } from './tools/catalog';
import { errorResult, invalidArguments, storedError, successResult } from './tools/results';

/** Rules for the tools of all plugins. */
const GENERAL =
  'Ids are UUIDs and come only from results. Times are RFC 3339 with an offset. Fill fields only with what the person said. For more of a list, pass its nextCursor as cursor with the same arguments. A failed call returns isError with the reason, the field and what to call next.';
const OWN = "All data belongs to the token's owner.";

/**
 * What a model should know before it reads the tools: the rules for all of them, the person's date,
 * and the instructions of each plugin. Models always read it, so it must stay under 1 KB.
 */
function instructionsFor(
  ofPlugins: readonly string[],
  { account, garden }: Principal,
  now: Date,
): string {
  const { timezone } = garden?.account ?? account;
  const today = `Today is ${calendarOf(timezone)(now)} in ${timezone}; on a later day call get_account.`;
  return [`${garden ? whose(garden) : OWN} ${GENERAL} ${today}`, ...ofPlugins].join('\n\n');
}

/** Its owner chose the name. */
function whose({ account: { id, gardenName }, role }: Garden): string {
  const name = gardenName === null ? '' : ` ${JSON.stringify(gardenName)}`;
  return `All data belongs to the garden${name} of ${JSON.stringify(id)}, where the person is a ${role}.`;
}

/** The response to a GET that accepts `text/event-stream`. */
export const noEventStream = methodNotAllowed.at(
  405,
  'There is no event stream here; send requests by POST.',
);

/** `/api/mcp` (docs/specification.md, 4.4): the operations of all plugins as tools. */
export class Endpoint {
  readonly #origins: Origins;
  #catalog: ToolCatalog | undefined;
  readonly #host: Host;

  constructor(host: Host) {
    this.#host = host;
    const publicUrl = host.settings.of(hostSettings.publicUrl);
    const own = publicUrl === undefined ? [] : [publicUrl];
    this.#origins = new Origins([...host.settings.of(allowedOriginsSetting), ...own]);
  }

  /** Loads ahead what the first message needs. */
  prepare(description: ApiDescription): void {
    loadProtocol().preload();
    this.#catalogOf(description);
  }

  /** Describes the endpoint; no token is needed. */
  async describe(ctx: Context, api: ProtocolApi): Promise<void> {
    ctx.vary('Accept');
    // Legacy clients probe for a stream this way, and retry for ever after a 200.
    if (ctx.accepts('json', 'text/event-stream') === 'text/event-stream') {
      throw noEventStream.error(undefined, { headers: { Allow: 'GET, POST' } });
    }
    const description = {
      ...PROJECT,
      auth: 'bearer',
      scopes: toolScopes(api),
      tools: this.#catalogOf(api).names,
    };
    ctx.type = 'application/json';
    ctx.body = JSON.stringify(description);
  }

  async receive(ctx: Context, api: ProtocolApi): Promise<void> {
    const { status, json } = await this.#reply(ctx, api);
    ctx.status = status;
    // A string would be encoded twice: for its length, and to be sent.
    ctx.body = Buffer.from(json);
    if (json === '') ctx.remove('Content-Type');
    else ctx.type = 'application/json';
  }

  async #reply(ctx: Context, api: ProtocolApi): Promise<Reply> {
    this.#origins.check(ctx.req.headers);
    const principal = await authenticate(ctx, api);
    const { errorReply, handleMessage, INVALID_REQUEST, PARSE_ERROR } = loadProtocol();
    let message: unknown;
    try {
      message = await api.readJson(ctx);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const refused = tokenRefusal(ctx, error);
      if (refused) throw refused;
      if (error.kind === invalidJson) return errorReply(400, PARSE_ERROR, error.message);
      if (error.kind === validationError) return errorReply(400, INVALID_REQUEST, error.message);
      throw error;
    }
    const catalog = this.#catalogOf(api);
    const caller: Caller = { ctx, api, principal };
    const reply = await handleMessage(message, ctx.req.headers, {
      instructions: instructionsFor(api.instructions, principal, new Date()),
      listTools: () => catalog.definitionsFor(principal.scopes, principal.garden),
      hasTool: (name) => catalog.has(name),
      callTool: (name, args) => this.#callTool(catalog.get(name), args, caller),
    });
    // The protocol's package would make a result of what is thrown within it.
    if (caller.challenge) throw caller.challenge;
    return reply;
  }

  async #callTool(tool: CatalogTool, args: unknown, caller: Caller): Promise<CallToolResult> {
    if (!isRecord(args)) return invalidArguments(tool);
    const { ctx, api } = caller;
    try {
      const { operation, input } = tool.arguments.toCall(args);
      ctx.state.tool = tool.definition.name;
      const { status, json } = await api.call(operation, input, ctx);
      return status < 400
        ? successResult(json, tool)
        : errorResult(storedError(json, tool), tool, args);
    } catch (error) {
      if (error instanceof ApiError) {
        caller.challenge =
          tokenRefusal(ctx, error) ?? scopeChallenge(error, tool.operation, caller);
        return errorResult(error, tool, args);
      }
      // The package would send the message of the error to the caller.
      this.#host.log.error(
        { err: error, tool: tool.definition.name },
        'A tool failed unexpectedly',
      );
      return errorResult(internalError.error(), tool, args);
    }
  }

  #catalogOf({ operations }: ApiDescription): ToolCatalog {
    return (this.#catalog ??= new ToolCatalog(operations));
  }
}

/** Loads the package of the protocol, which commands do not need. */
function loadProtocol(): typeof Protocol {
  // A sibling, in the sources and in the build.
  return createRequire(__filename)('./protocol') as typeof Protocol;
}

interface Caller {
  ctx: Context;
  api: ProtocolApi;
  principal: Principal;
  /** The error to respond with instead of a result. */
  challenge?: ApiError | undefined;
}
