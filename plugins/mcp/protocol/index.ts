/** The protocol, which only those load who serve. */
export { INVALID_REQUEST, PARSE_ERROR } from '@modelcontextprotocol/server';
export { errorReply } from './exchange';
export { handleMessage, warmUp } from './messages';
