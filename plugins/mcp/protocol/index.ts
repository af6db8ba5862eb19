/** The protocol, which only those load who serve. */
export { INVALID_REQUEST, PARSE_ERROR } from '@modelcontextprotocol/server';
export { errorReply, preload } from './exchange';
export { handleMessage } from './messages';
