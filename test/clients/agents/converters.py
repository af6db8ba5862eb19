"""Prints the input schemas of tools, which it reads as JSON, as a package declares them to a model.

    converters.py openai|google|langchain|llamaindex|crewai
"""

import json
import sys

from mcp.types import Tool

NOWHERE = "http://127.0.0.1:1"


def openai(tools):
    from agents.mcp import MCPServerStreamableHttp, MCPUtil

    server = MCPServerStreamableHttp({"url": NOWHERE})
    functions = [MCPUtil.to_function_tool(tool, server, convert_schemas_to_strict=True) for tool in tools]
    loose = [each.name for each in functions if not each.strict_json_schema and each.params_json_schema["properties"]]
    assert not loose, loose
    return {each.name: each.params_json_schema for each in functions}


def google(tools):
    from google.genai._mcp_utils import mcp_to_gemini_tools

    return declared(mcp_to_gemini_tools(tools))


def langchain(tools):
    from langchain_google_genai._function_utils import convert_to_genai_function_declarations
    from langchain_mcp_adapters.tools import convert_mcp_tool_to_langchain_tool

    connection = {"transport": "streamable_http", "url": NOWHERE}
    its = [convert_mcp_tool_to_langchain_tool(None, tool, connection=connection) for tool in tools]
    return declared(convert_to_genai_function_declarations(its))


def declared(tools):
    functions = [each for tool in tools for each in tool.function_declarations]
    return {each.name: each.parameters.model_dump(mode="json", exclude_none=True) for each in functions}


def llamaindex(tools):
    from llama_index.tools.mcp import McpToolSpec

    spec = McpToolSpec(client=None)
    return {
        tool.name: spec.create_model_from_json_schema(tool.inputSchema, model_name=tool.name).model_json_schema()
        for tool in tools
    }


def crewai(tools):
    from mcpadapt.utils.modeling import create_model_from_json_schema, resolve_refs_and_remove_defs
    from pydantic import TypeAdapter

    def schema_of(field):
        extra = {key: value for key, value in (field.json_schema_extra or {}).items() if value}
        return {**TypeAdapter(field.annotation).json_schema(), **extra}

    models = {tool.name: create_model_from_json_schema(resolve_refs_and_remove_defs(tool.inputSchema)) for tool in tools}
    return {
        name: {"properties": {each: schema_of(field) for each, field in model.model_fields.items()}}
        for name, model in models.items()
    }


given = [Tool(**tool) for tool in json.load(sys.stdin)]
print(json.dumps(globals()[sys.argv[1]](given)))
