package mcpserver

// schema is a JSON Schema in the making.
type schema map[string]any

func object(required []string, props map[string]schema) schema {
	s := schema{"type": "object", "properties": props}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

func list(of schema) schema { return schema{"type": "array", "items": of} }

func text(desc string) schema    { return schema{"type": "string", "description": desc} }
func integer(desc string) schema { return schema{"type": "integer", "description": desc} }
func number(desc string) schema  { return schema{"type": "number", "description": desc} }
func boolean(desc string) schema { return schema{"type": "boolean", "description": desc} }

func oneOf(desc string, values ...string) schema {
	return schema{"type": "string", "description": desc, "enum": values}
}

// inputSchema is what a tool takes; anything else is refused.
func inputSchema(args []arg) schema {
	props := make(map[string]schema, len(args))
	var required []string
	for _, a := range args {
		props[a.name] = a.schema()
		if a.required {
			required = append(required, a.name)
		}
	}
	s := object(required, props)
	s["additionalProperties"] = false
	return s
}

func (a arg) schema() schema {
	s := schema{"description": a.desc}
	switch a.kind {
	case argInt, argFloat:
		s["type"] = "integer"
		if a.kind == argFloat {
			s["type"] = "number"
		}
		s["minimum"], s["maximum"] = a.low, a.high
		if a.clamp {
			delete(s, "minimum")
			delete(s, "maximum")
		}
	case argBool:
		s["type"] = "boolean"
	default:
		s["type"], s["maxLength"] = "string", a.bound()
		if a.required && !a.empty {
			s["minLength"] = 1
		}
		if len(a.enum) > 0 {
			s["enum"] = a.enum
			delete(s, "maxLength")
		}
	}
	if a.def != nil {
		s["default"] = a.def
	}
	return s
}

// outputSchema is what a tool answers: either the whole of ok, or a failure.
// The properties stand at the top, where simple clients look for them.
func outputSchema(ok, failure schema) schema {
	props := make(map[string]schema)
	for _, part := range []schema{failure, ok} {
		for name, p := range part["properties"].(map[string]schema) {
			props[name] = p
		}
	}
	return schema{
		"type": "object", "properties": props,
		"anyOf": []schema{{"required": ok["required"]}, {"required": failure["required"]}},
	}
}

func failureSchema() schema {
	return object([]string{"code", "message"}, map[string]schema{
		"code":    text("On failure: a stable code."),
		"message": text("On failure: what was wrong and what is allowed."),
		"hint":    text("On failure: the next step."),
	})
}

func freshnessSchema() schema {
	return object([]string{"pending", "failed"}, map[string]schema{
		"pending":         integer("Documents that are changed on disk and not in the index yet."),
		"failed":          integer("Documents that could not be indexed; see rag_jobs."),
		"pending_vectors": integer("Passages of the whole index that are found by keyword only so far, since their vectors are not made yet."),
		"degraded":        list(text("A part that cannot be trusted to notice changes, and why.")),
		"not_yet":         list(object([]string{"kb", "path"}, map[string]schema{"kb": text("Knowledge base."), "path": text("Path.")})),
		"not_yet_total":   integer("With wait_ms: how many documents are not in this answer yet; not_yet holds the first of them."),
	})
}
