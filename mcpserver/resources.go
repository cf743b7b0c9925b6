package mcpserver

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"ragd/internal/fault"
	"ragd/internal/store"
)

// The library keeps resources in a map and pages through it by name; here
// they are the documents of the index. So a listing or a read is made before
// the library sees the request (prepareList, prepareRead), under the request,
// and its handlers only hand the result over (hookResources).

// inTransit is the one resource the library knows; it is never listed.
const inTransit = "rag:"

const (
	resourcesPage = 100
	resourcesScan = 2000 // documents looked at for one page, readable or not
)

func (s *Server) addResources(m *server.MCPServer) {
	m.AddResource(mcp.Resource{URI: inTransit, Name: "document"}, func(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return requestFrom(ctx).contents, nil
	})
	m.AddResourceTemplate(mcp.NewResourceTemplate(uriTemplate, "document",
		mcp.WithTemplateTitle("Document"),
		mcp.WithTemplateDescription("The text of a document of a knowledge base. Names are percent-encoded bytes; ?offset=N gives the text from character N."),
		mcp.WithTemplateMIMEType("text/plain"),
	), func(ctx context.Context, _ mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return requestFrom(ctx).contents, nil
	})
}

func (s *Server) hookResources(hooks *server.Hooks) {
	hooks.AddAfterListResources(func(ctx context.Context, _ any, _ *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
		if list := requestFrom(ctx).resources; list != nil {
			result.Resources, result.NextCursor = list.Resources, list.NextCursor
		}
	})
}

func (s *Server) prepareList(ctx context.Context, req *request, params, meta json.RawMessage) (json.RawMessage, *rpcError) {
	var p struct {
		Cursor string `json:"cursor"`
	}
	if params != nil && json.Unmarshal(params, &p) != nil {
		return nil, &rpcError{Code: codeInvalidParams, Message: "cursor must be a string"}
	}
	page, err := s.listResources(ctx, p.Cursor)
	if err != nil {
		return nil, s.rpcFault(req, methodListResources, err)
	}
	req.resources = page
	return rebuild(map[string]any{}, meta)
}

func (s *Server) listResources(ctx context.Context, from string) (*mcp.ListResourcesResult, error) {
	at, err := parseCursor(methodListResources, from)
	if err != nil {
		return nil, err
	}
	refs, err := s.visible(ctx)
	if err != nil {
		return nil, err
	}
	page := &mcp.ListResourcesResult{Resources: []mcp.Resource{}}
	looked := 0
	for _, ref := range refs {
		order := strings.Compare(ref.name, string(at.KB))
		if ref.id == 0 || order < 0 {
			continue
		}
		after := ""
		if order == 0 {
			after = string(at.Path)
		}
		for more := true; more; {
			var docs []store.DocRecord
			docs, _, more, err = s.deps.Store.Documents(ctx, ref.id, store.Page{After: after, Limit: resourcesPage}, nil)
			if err != nil {
				return nil, err
			}
			if len(docs) == 0 {
				break
			}
			for _, d := range docs {
				after = d.Path
				looked++
				if d.RevisionID != "" {
					page.Resources = append(page.Resources, resourceOf(ref, d))
				}
				if len(page.Resources) == resourcesPage || looked >= resourcesScan {
					page.NextCursor = mcp.Cursor(cursor{Tool: methodListResources, KB: []byte(ref.name), Path: []byte(after)}.String())
					return page, nil
				}
			}
		}
	}
	return page, nil
}

func resourceOf(ref kbRef, d store.DocRecord) mcp.Resource {
	size := d.Size
	return mcp.Resource{
		URI: docURI(ref.name, d.Path), Name: encodeName(ref.name) + "/" + encodeName(d.Path),
		Title: clip(d.Meta.Title, 200), MIMEType: mimeOf(d), Size: &size,
	}
}

// mimeOf is the type of a document's text: what is extracted from other
// formats is plain text.
func mimeOf(d store.DocRecord) string {
	if strings.HasPrefix(d.MediaType, "text/") && d.MediaType != "text/html" {
		return d.MediaType
	}
	return "text/plain"
}

func (s *Server) prepareRead(ctx context.Context, req *request, params, meta json.RawMessage) (json.RawMessage, *rpcError) {
	var p struct {
		URI string `json:"uri"`
	}
	if json.Unmarshal(params, &p) != nil || p.URI == "" {
		return nil, &rpcError{Code: codeInvalidParams, Message: "uri must be the address of a document, rag://kb/path"}
	}
	contents, err := s.readResource(ctx, p.URI)
	if err != nil {
		return nil, s.rpcFault(req, methodReadResource, err)
	}
	req.contents = contents
	return rebuild(map[string]any{"uri": inTransit}, meta)
}

func (s *Server) readResource(ctx context.Context, uri string) ([]mcp.ResourceContents, error) {
	kb, path, offset, err := parseURI(uri)
	if err != nil {
		return nil, err
	}
	refs, err := s.visible(ctx)
	if err != nil {
		return nil, err
	}
	ref, ok := findKB(refs, kb)
	if !ok { // some clients write the part before the path in lower case
		i := slices.IndexFunc(refs, func(r kbRef) bool { return strings.EqualFold(r.name, kb) })
		if i < 0 {
			return nil, unknownKB(encodeName(kb), refs)
		}
		ref = refs[i]
	}
	doc, err := s.document(ctx, ref, path)
	if err != nil {
		return nil, err
	}
	t, ok, err := s.deps.Store.ReadRevision(ctx, ref.id, doc.Path, "", offset, maxReadChars)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, noRevision(doc, "")
	}
	end := offset + utf8.RuneCountInString(t.Content)
	info := map[string]any{
		"revision_id": t.RevisionID, "content_offset": offset, "content_total_chars": t.TotalChars,
		"content_truncated": end < t.TotalChars, "stale": s.stale(ctx, ref, doc),
	}
	if end < t.TotalChars {
		info["next"] = docURI(ref.name, doc.Path) + "?offset=" + itoa(end)
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: mimeOf(doc), Text: t.Content, Meta: info}}, nil
}

// rpcFault is the answer to a request that is not a tool call and failed.
func (s *Server) rpcFault(req *request, method string, err error) *rpcError {
	e := s.explain(method, err)
	code := codeInternal
	switch e.Kind {
	case fault.Invalid:
		code = codeInvalidParams
	case fault.NotFound, fault.Transient:
		code = codeNoResource
		if req.modern {
			code = codeInvalidParams
		}
	}
	return &rpcError{Code: code, Message: e.Message, Data: failure{Code: e.Code, Message: e.Message, Hint: e.Hint}}
}
