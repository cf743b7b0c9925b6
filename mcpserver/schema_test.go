package mcpserver

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas compiles what tools/list tells of each tool.
func schemas(t testing.TB, c *client) (in, out map[string]*jsonschema.Schema) {
	t.Helper()
	var list struct {
		Tools []struct {
			Name         string
			InputSchema  json.RawMessage
			OutputSchema json.RawMessage
		}
	}
	if err := json.Unmarshal(c.request("tools/list", m{}).Result, &list); err != nil {
		t.Fatal(err)
	}
	in, out = map[string]*jsonschema.Schema{}, map[string]*jsonschema.Schema{}
	for _, x := range list.Tools {
		in[x.Name] = compile(t, x.Name+"-in", x.InputSchema)
		out[x.Name] = compile(t, x.Name+"-out", x.OutputSchema)
	}
	return in, out
}

func compile(t testing.TB, name string, raw json.RawMessage) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

func fits(s *jsonschema.Schema, raw []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	return s.Validate(doc)
}
