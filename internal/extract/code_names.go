package extract

import (
	"strings"

	sitter "github.com/tree-sitter/go-tree-sitter"
)

// names returns what a definition is called, with the type that it belongs to
// before it where it does not stand inside of it; nil when it defines nothing
// with a body.
func (t *codeTree) names(n *sitter.Node, kind string) []string {
	switch kind {
	case "function_definition", "preproc_function_def":
		if d := n.ChildByFieldName("declarator"); d != nil {
			return qualified(t.declared(d))
		}
	case "declaration", "type_definition":
		return t.declaredType(n)
	case "struct_specifier", "union_specifier", "class_specifier", "enum_specifier":
		if n.ChildByFieldName("body") == nil {
			return nil
		}
	case "method_declaration":
		if r := n.ChildByFieldName("receiver"); r != nil {
			return clean(receiver(t.text(r)), t.field(n, "name"))
		}
	case "impl_item":
		return clean(withoutGenerics(t.field(n, "type")))
	case "lexical_declaration", "variable_declaration":
		return t.functionValue(n)
	case "assignment_expression":
		if isFunction(n.ChildByFieldName("right")) {
			return clean(t.field(n, "left"))
		}
		return nil
	case "operator_declaration":
		return clean("operator " + t.field(n, "operator"))
	case "conversion_operator_declaration":
		return clean("operator " + t.field(n, "type"))
	case "destructor_declaration":
		return clean("~" + t.field(n, "name"))
	case "indexer_declaration":
		return []string{"this"}
	case "namespace_definition", "module":
		if n.ChildByFieldName("body") == nil {
			return nil
		}
		return clean(strings.Trim(t.field(n, "name"), "\"'"))
	}
	return clean(t.field(n, "name"))
}

func (t *codeTree) text(n *sitter.Node) string {
	if n == nil || int(n.EndByte()) > len(t.body) || n.StartByte() > n.EndByte() {
		return ""
	}
	return t.body[n.StartByte():n.EndByte()]
}

func (t *codeTree) field(n *sitter.Node, name string) string {
	return t.text(n.ChildByFieldName(name))
}

// declared follows the declarators of C down to the name.
func (t *codeTree) declared(n *sitter.Node) string {
	for range codeNestingMax {
		inner := n.ChildByFieldName("declarator")
		if inner == nil && n.Kind() == "reference_declarator" && n.NamedChildCount() > 0 {
			inner = n.NamedChild(n.NamedChildCount() - 1)
		}
		if inner == nil {
			return t.text(n)
		}
		n = inner
	}
	return ""
}

// declaredType is the name of a type with a body that a declaration of C makes.
func (t *codeTree) declaredType(n *sitter.Node) []string {
	typ := n.ChildByFieldName("type")
	if typ == nil || typ.ChildByFieldName("body") == nil {
		return nil
	}
	if d := n.ChildByFieldName("declarator"); d != nil && n.Kind() == "type_definition" {
		return clean(t.declared(d))
	}
	return clean(t.field(typ, "name"))
}

// functionValue is the name of a variable of JavaScript that holds a function or a class.
func (t *codeTree) functionValue(n *sitter.Node) []string {
	for i := range min(n.NamedChildCount(), 4) {
		d := n.NamedChild(i)
		if d != nil && d.Kind() == "variable_declarator" && isFunction(d.ChildByFieldName("value")) {
			return clean(t.field(d, "name"))
		}
	}
	return nil
}

func isFunction(n *sitter.Node) bool {
	if n == nil {
		return false
	}
	switch n.Kind() {
	case "arrow_function", "function_expression", "generator_function", "class":
		return true
	}
	return false
}

// receiver is the type in a receiver of Go: "(s *Stack[T])" gives "Stack".
func receiver(s string) string {
	s, _, _ = strings.Cut(strings.Trim(s, "() \t\n"), "[")
	fields := strings.Fields(s)
	if len(fields) == 0 {
		return ""
	}
	return strings.TrimLeft(fields[len(fields)-1], "*")
}

// qualified cuts a name of C++ at its "::".
func qualified(name string) []string {
	if strings.HasPrefix(name, "operator") || !strings.Contains(name, "::") {
		return clean(name)
	}
	return clean(strings.Split(withoutGenerics(name), "::")...)
}

// withoutGenerics leaves out what stands in angle brackets.
func withoutGenerics(s string) string {
	var b strings.Builder
	depth := 0
	for i := range len(s) {
		switch {
		case s[i] == '<':
			depth++
		case s[i] == '>' && depth > 0:
			depth--
		case depth == 0:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// clean makes headings of names and leaves out the empty ones.
func clean(names ...string) []string {
	var out []string
	for _, n := range names {
		if n = clip(strings.Join(strings.Fields(clip(n, 4*codeHeadingMax)), " "), codeHeadingMax); n != "" {
			out = append(out, n)
		}
	}
	return out
}
