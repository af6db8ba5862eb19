// Prints the input schemas of tools, which it reads as JSON, as a package declares them to a model:
//
//     node converters.mjs ai-sdk|langchain
import { text } from 'node:stream/consumers';

import { createGoogle } from '@ai-sdk/google';
import { ChatGoogleGenerativeAI } from '@langchain/google-genai';
import { loadMcpTools } from '@langchain/mcp-adapters';

const MODEL = 'gemini-2.5-flash';

const converters = {
  'ai-sdk': async (tools) => {
    let sent;
    const fetch = async (_url, { body }) => {
      sent = JSON.parse(body);
      return new Response('{}', { status: 400 });
    };
    const functions = tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      name,
      description,
      inputSchema,
    }));
    const prompt = [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }];
    await createGoogle({ apiKey: 'none', fetch })(MODEL)
      .doGenerate({ prompt, tools: functions })
      .catch((error) => {
        if (!sent) throw error;
      });
    return sent.tools;
  },
  langchain: async (tools) => {
    const client = { listTools: async () => ({ tools }), callTool: async () => ({}) };
    const model = new ChatGoogleGenerativeAI({ apiKey: 'none', model: MODEL });
    return model.invocationParams({ tools: await loadMcpTools('plants', client) }).tools;
  },
};

const tools = JSON.parse(await text(process.stdin));
const declared = await converters[process.argv[2]](tools);
const schemas = declared
  .flatMap(({ functionDeclarations }) => functionDeclarations)
  .map(({ name, parameters, parametersJsonSchema }) => [name, parameters ?? parametersJsonSchema]);
console.log(JSON.stringify(Object.fromEntries(schemas)));
