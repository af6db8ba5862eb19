"""Calls list_plants for a person who signs in, once for each line of standard input.

    signed_in.py URL fastmcp|mcp [ADDRESS OF ITS METADATA DOCUMENT]

Prints the address that a browser is to open, and what each call answered, a line each. By mcp the address
to which the browser was sent back is to be written to standard input. "later" moves the clock by an hour.
"""

import asyncio
import json
import sys
import time
from urllib.parse import parse_qs, urlparse

clock, moved = time.time, 0
time.time = lambda: clock() + moved


async def line():
    return (await asyncio.to_thread(sys.stdin.readline)).strip()


def say(what):
    print(what, flush=True)


def by_fastmcp(url):
    from fastmcp import Client

    return Client(url, auth="oauth")


def by_mcp(url, document=None):
    import httpx2
    from mcp import Client
    from mcp.client.auth import OAuthClientProvider
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

    class Memory:
        tokens = info = None

        async def get_tokens(self):
            return self.tokens

        async def set_tokens(self, tokens):
            self.tokens = tokens

        async def get_client_info(self):
            return self.info

        async def set_client_info(self, info):
            self.info = info

    async def asked(address):
        say(address)

    async def answered():
        sent = parse_qs(urlparse(await line()).query)
        return AuthorizationCodeResult(**{key: sent[key][0] for key in ("code", "state", "iss")})

    wanted = OAuthClientMetadata(client_name="Fern watcher", redirect_uris=["http://127.0.0.1:41998/callback"])
    auth = OAuthClientProvider(url, wanted, Memory(), asked, answered, client_metadata_url=document)
    return Client(streamable_http_client(url, http_client=httpx2.AsyncClient(auth=auth)))


async def serve(url, kind, *document):
    global moved
    client = by_fastmcp(url) if kind == "fastmcp" else by_mcp(url, *document)
    async with client:
        while command := await line():
            if command == "later":
                moved += 3601
                continue
            result = await client.call_tool("list_plants", {})
            failed = getattr(result, "is_error", None)
            say(json.dumps({"isError": bool(failed), "text": result.content[0].text}))


asyncio.run(serve(*sys.argv[1:]))
