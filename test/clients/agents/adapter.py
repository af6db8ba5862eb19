"""Calls tools by mcpadapt as CrewAI does, which makes null of every argument that a model left out.

    adapter.py URL TOKEN '[["list_plants", {}]]'
"""

import json
import sys

from mcpadapt.core import MCPAdapt, ToolAdapter
from mcpadapt.utils.modeling import create_model_from_json_schema, resolve_refs_and_remove_defs


class AsCrewAI(ToolAdapter):
    def adapt(self, func, mcp_tool):
        arguments = create_model_from_json_schema(resolve_refs_and_remove_defs(mcp_tool.inputSchema))

        def call(given):
            result = func(arguments(**given).model_dump())
            return {"isError": bool(result.isError), "text": result.content[0].text}

        return mcp_tool.name, call


url, token, calls = sys.argv[1:]
headers = {"Authorization": f"Bearer {token}"}
with MCPAdapt({"url": url, "transport": "streamable-http", "headers": headers}, AsCrewAI()) as tools:
    by_name = dict(tools)
    print(json.dumps([by_name[name](given) for name, given in json.loads(calls)]))
