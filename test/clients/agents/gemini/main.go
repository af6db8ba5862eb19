// Prints the input schemas of tools, which it reads as JSON, as Gemini's client for Go declares them.
package main

import (
	"encoding/json"
	"os"

	"google.golang.org/genai"
)

func main() {
	var tools []struct {
		Name        string       `json:"name"`
		InputSchema genai.Schema `json:"inputSchema"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&tools); err != nil {
		panic(err)
	}
	schemas := map[string]genai.Schema{}
	for _, tool := range tools {
		schemas[tool.Name] = tool.InputSchema
	}
	if err := json.NewEncoder(os.Stdout).Encode(schemas); err != nil {
		panic(err)
	}
}
