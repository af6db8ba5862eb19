"""Calls tools by fastmcp; says why where it is not let in.

    fastmcp_client.py URL TOKEN '[["list_plants", {}]]'
"""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport


async def answers(url, token, calls):
    headers = {"Authorization": f"Bearer {token}"}
    async with Client(StreamableHttpTransport(url, headers=headers)) as client:
        results = [await client.call_tool(name, given, raise_on_error=False) for name, given in calls]
    return [{"isError": each.is_error, "text": each.content[0].text} for each in results]


url, token, calls = sys.argv[1:]
try:
    print(json.dumps(asyncio.run(answers(url, token, json.loads(calls)))))
except Exception as error:
    print(json.dumps({"refused": str(error)}))
