import { INVALID_REQUEST, PARSE_ERROR } from '@modelcontextprotocol/server';
import type { Context } from 'koa';

import {
  ApiError,
  internalError,
  invalidJson,
  invalidToken,
  methodNotAllowed,
  validationError,
} from '../../src/core/errors';
import type { Principal } from '../../src/core/identity';
import type { Host } from '../../src/plugins/host';
import type { TransportApi } from '../../src/plugins/transport';
import { IDENTITY } from '../../src/core/project';
import { allowedOriginsSetting, Origins } from './origins';
import type { Answer } from './frames';
import { answer, rpcError, SERVER_ERROR } from './protocol';
import { badArguments, keptError, refusal, success, successOf, type ToolAnswer } from './results';
import { type Tool, Tools } from './tools';

/** `/api/mcp` (section 4.4): the operations of all plugins as tools. */
export class Endpoint {
  readonly #origins: Origins;
  #tools: Tools | undefined;

  constructor(private readonly host: Host) {
    this.#origins = new Origins(host.settings.of(allowedOriginsSetting));
  }

  /** Says what is here, to anybody. */
  async describe(ctx: Context, api: TransportApi): Promise<void> {
    ctx.vary('Accept');
    // Clients of the older wire look for a stream like this, and try again for ever on a 200.
    if (ctx.accepts('json', 'text/event-stream') === 'text/event-stream') {
      throw methodNotAllowed.error('There is no event stream here; send requests by POST.', {
        headers: { Allow: 'GET, POST' },
      });
    }
    const description = {
      ...IDENTITY,
      auth: 'bearer',
      scopes: [...api.scopes.keys()],
      tools: this.#toolsOf(api).names,
    };
    ctx.type = 'application/json';
    ctx.body = JSON.stringify(description);
  }

  /** Answers a JSON-RPC message. */
  async receive(ctx: Context, api: TransportApi): Promise<void> {
    const { status, json } = await this.#answer(ctx, api);
    ctx.status = status;
    ctx.body = json;
    if (json === '') ctx.remove('Content-Type');
    else ctx.type = 'application/json';
  }

  async #answer(ctx: Context, api: TransportApi): Promise<Answer> {
    const fault = this.#origins.fault(ctx.req.headers);
    if (fault !== undefined) return rpcError(403, SERVER_ERROR, fault);
    const principal = await authenticate(ctx, api);
    let message: unknown;
    try {
      message = await api.readJson(ctx);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.kind === invalidJson) return rpcError(400, PARSE_ERROR, error.message);
      if (error.kind === validationError) return rpcError(400, INVALID_REQUEST, error.message);
      throw error;
    }
    const tools = this.#toolsOf(api);
    return answer(message, ctx.req.headers, {
      tools: () => tools.listFor(principal.scopes),
      has: (name) => tools.has(name),
      call: (name, given) => this.#call(tools.get(name), given, { ctx, api, principal }),
    });
  }

  async #call(tool: Tool, given: unknown, caller: Caller): Promise<ToolAnswer> {
    if (!isObject(given)) return badArguments(tool);
    const { ctx, api, principal } = caller;
    try {
      const input = tool.arguments.toInput(given);
      const outcome = await api.call(tool.operation, principal, input, ctx);
      if ('value' in outcome) return success(JSON.stringify(outcome.value), tool);
      if ('items' in outcome) return await successOf(outcome.items, tool);
      if (outcome.replayed) ctx.set('Idempotent-Replayed', 'true');
      if (outcome.status < 400) return success(outcome.json, tool);
      return refusal(keptError(outcome.json, tool), tool, given);
    } catch (error) {
      if (error instanceof ApiError) return refusal(error, tool, given);
      // The package would tell its message to the caller.
      this.host.log.error({ err: error, tool: tool.listing.name }, 'A tool failed unexpectedly');
      return refusal(internalError.error(), tool, given);
    }
  }

  #toolsOf({ operations }: TransportApi): Tools {
    return (this.#tools ??= new Tools(operations));
  }
}

/** Section 4.4: here a token that is not good is answered with 403. */
async function authenticate(ctx: Context, api: TransportApi): Promise<Principal> {
  try {
    return await api.authenticate(ctx);
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== invalidToken) throw error;
    throw invalidToken.error(error.message, { status: 403, headers: error.headers });
  }
}

interface Caller {
  ctx: Context;
  api: TransportApi;
  principal: Principal;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
