package extract

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limits of a front matter block.
const (
	frontMatterMax   = 64 << 10
	frontMatterNodes = 20_000 // after aliases are followed
	frontMatterDepth = 32
	tagsMax          = 256
	fieldMax         = 1 << 10 // bytes of a known text field
)

// yamlKey matches how a mapping begins; prose between two rules does not.
var yamlKey = regexp.MustCompile(`^(?:[A-Za-z_"'][\w ."'/-]{0,100}\s*:(?:\s|$)|#)`)

// splitFrontMatter finds a YAML block between "---" lines at the very
// beginning of body and returns it with the offset at which the body proper
// begins. A block that is not closed, not YAML though it begins like a
// mapping, or too large, is said so in Unreadable; only a block that was
// closed is taken off the body. Prose between two rules stays in the body.
func splitFrontMatter(body string) (FrontMatter, int) {
	var front FrontMatter
	first, rest, found := strings.Cut(body, "\n")
	if !found || strings.TrimRight(first, " \t") != "---" {
		return front, 0
	}
	start := len(first) + 1
	looksLike := yamlKey.MatchString(firstContent(head64K(rest)))
	end, after, lines := closingFence(head64K(rest))
	if end < 0 {
		if looksLike {
			front.Unreadable = "line 1: the front matter opened here is not closed by --- or ..."
			if len(rest) > frontMatterMax {
				front.Unreadable += fmt.Sprintf(" within %d KiB", frontMatterMax>>10)
			}
		}
		return front, 0
	}
	raw := rest[:end]
	fields, err := parseFrontMatter(raw)
	if err != nil {
		if !looksLike {
			return front, 0
		}
		front.Raw = raw
		front.Unreadable = err.Error()
		if lines == 0 {
			front.Unreadable = "line 1: " + front.Unreadable
		}
		front.Title = salvage(raw, "title")
		return front, start + after
	}
	if fields == nil && strings.TrimSpace(raw) != "" && !looksLike {
		return front, 0
	}
	front.Raw, front.Fields = raw, fields
	front.fill()
	return front, start + after
}

// closingFence finds the line that ends the block: where the block's text
// ends, where the body begins after it, and the lines between; -1 if none.
func closingFence(s string) (end, after, lines int) {
	at := 0
	for line := range strings.Lines(s) {
		t := strings.TrimRight(line, " \t\n")
		if t == "---" || t == "..." {
			return at, at + len(line), lines
		}
		at += len(line)
		lines++
	}
	return -1, -1, lines
}

func firstContent(s string) string {
	for line := range strings.Lines(s) {
		if t := strings.TrimSpace(line); t != "" {
			return t
		}
	}
	return ""
}

func head64K(s string) string {
	if len(s) > frontMatterMax {
		return s[:frontMatterMax]
	}
	return s
}

// parseFrontMatter reads a YAML mapping into plain values: string, bool, int,
// float64, nil, []any, map[string]any. Lines in errors are the file's, where
// the fence is line 1. An empty block gives nil.
func parseFrontMatter(raw string) (fields map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			fields, err = nil, fmt.Errorf("line 2: the YAML reader failed on this block")
		}
	}()
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(raw), &root); err != nil {
		return nil, yamlFault(err)
	}
	if len(root.Content) == 0 {
		return nil, nil
	}
	top := root.Content[0]
	if top.Kind == yaml.ScalarNode && top.ShortTag() == "!!null" {
		return nil, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: front matter must be a mapping of names to values", top.Line+1)
	}
	c := yamlConverter{budget: frontMatterNodes}
	v, err := c.value(top, 0)
	if err != nil {
		return nil, err
	}
	return v.(map[string]any), nil
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// yamlFault turns the reader's message into one with the file's line.
func yamlFault(err error) error {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatchIndex(msg); m != nil {
		if n, convErr := strconv.Atoi(msg[m[2]:m[3]]); convErr == nil {
			rest := strings.TrimLeft(msg[m[1]:], ": ")
			return fmt.Errorf("line %d: %s", n+1, clip(rest, 200))
		}
	}
	return fmt.Errorf("line 2: %s", clip(msg, 200))
}

// yamlConverter turns nodes into plain values under a budget, so aliases
// cannot multiply.
type yamlConverter struct{ budget int }

func (c *yamlConverter) value(n *yaml.Node, depth int) (any, error) {
	c.budget--
	if c.budget < 0 {
		return nil, fmt.Errorf("line %d: front matter expands to more than %d values", n.Line+1, frontMatterNodes)
	}
	if depth > frontMatterDepth {
		return nil, fmt.Errorf("line %d: front matter is nested deeper than %d", n.Line+1, frontMatterDepth)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return c.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, err := c.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return c.mapping(n, depth)
	}
	return scalar(n), nil
}

func (c *yamlConverter) mapping(n *yaml.Node, depth int) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		v, err := c.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		if key.Kind != yaml.ScalarNode {
			continue // a key that is itself a list or mapping has no name
		}
		if merged, ok := v.(map[string]any); ok && key.Tag == "!!merge" {
			for k, mv := range merged {
				if _, has := m[k]; !has {
					m[k] = mv
				}
			}
			continue
		}
		m[key.Value] = v
	}
	return m, nil
}

// scalar gives a value that JSON can hold; what is neither bool, number nor
// null is the text as written, timestamps among them.
func scalar(n *yaml.Node) any {
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int":
		if i, err := strconv.Atoi(strings.ReplaceAll(n.Value, "_", "")); err == nil {
			return i
		}
	case "!!float":
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil && f-f == 0 { // neither infinite nor NaN
			return f
		}
	}
	return n.Value
}

// salvage finds "name: value" on a line of its own in a block that is not
// YAML; the commonest fault is a title with a second colon.
func salvage(raw, name string) string {
	for line := range strings.Lines(raw) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(strings.TrimSpace(key), name) {
			return clip(strings.Trim(strings.TrimSpace(value), `"'`), titleMax)
		}
	}
	return ""
}

// fill sets the known fields from Fields. Names are matched in any case.
func (f *FrontMatter) fill() {
	get := func(name string) any {
		if v, ok := f.Fields[name]; ok {
			return v
		}
		for _, k := range slices.Sorted(maps.Keys(f.Fields)) {
			if strings.EqualFold(k, name) {
				return f.Fields[k]
			}
		}
		return nil
	}
	f.Title = strings.Join(strings.Fields(clip(scalarText(get("title")), titleMax)), " ")
	f.Type = clip(scalarText(get("type")), fieldMax)
	f.Status = clip(scalarText(get("status")), fieldMax)
	f.ArtifactID = clip(scalarText(get("artifact_id")), fieldMax)
	f.Created = clip(scalarText(get("created")), fieldMax)
	f.Updated = clip(scalarText(get("updated")), fieldMax)
	f.Tags = tagList(get("tags"))
	f.Canon = isTrue(get("canon")) || strings.EqualFold(f.Status, "canon")
}

func scalarText(v any) string {
	switch x := v.(type) {
	case string:
		return strings.TrimSpace(x)
	case bool, int, float64:
		return fmt.Sprint(x)
	}
	return ""
}

func isTrue(v any) bool {
	switch strings.ToLower(scalarText(v)) {
	case "true", "yes", "on":
		return true
	}
	return false
}

// tagList accepts a list or a string with commas, without repeats.
func tagList(v any) []string {
	var parts []string
	switch x := v.(type) {
	case []any:
		for _, item := range x {
			parts = append(parts, scalarText(item))
		}
	default:
		parts = strings.Split(scalarText(x), ",")
	}
	var tags []string
	seen := make(map[string]bool, len(parts))
	for _, p := range parts {
		p = clip(strings.TrimSpace(p), fieldMax)
		if p == "" || seen[p] || len(tags) == tagsMax {
			continue
		}
		seen[p] = true
		tags = append(tags, p)
	}
	return tags
}
