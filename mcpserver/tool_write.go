package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"ragd/internal/fault"
	"ragd/kbroot"
)

type addOut struct {
	KB       string `json:"kb"`
	Path     string `json:"path"`
	Queued   bool   `json:"queued"`
	Replaced bool   `json:"replaced"`
	Note     string `json:"note,omitempty"`
}

type deleteOut struct {
	KB      string `json:"kb"`
	Path    string `json:"path"`
	Existed bool   `json:"existed"`
}

func toolAddDocument() *tool {
	return &tool{
		name: "rag_add_document", title: "Add or replace a document", writes: true, destructive: true, idempotent: true,
		desc: "Write a text or Markdown document into a knowledge base; the knowledge base and folders are made as needed, and an existing document is replaced. " +
			"It is queued for indexing at once and usually searchable within a second (rag_search with wait_ms waits for it).",
		args: []arg{
			{name: "kb", desc: "Name of the knowledge base; a new name makes a new one.", kind: argName, required: true},
			{name: "path", desc: "Where to write it, relative to the knowledge base, for example notes/2024/plan.md.", kind: argName, required: true},
			{name: "content", desc: "The whole text.", kind: argOpaque, required: true, empty: true, max: 8 << 20},
		},
		out: object([]string{"kb", "path", "queued", "replaced"}, map[string]schema{
			"kb": text("Knowledge base."), "path": text("Path."), "queued": boolean("It is queued for indexing."),
			"replaced": boolean("A document of this path was there and is replaced."), "note": text("Why it is not queued."),
		}),
		run: runAddDocument,
	}
}

const maxKBName = 255 // bytes, as of any folder's name

// notText are endings of formats that text written as is would not be.
func notText(p string) bool {
	switch strings.ToLower(path.Ext(p)) {
	case ".pdf", ".docx", ".xlsx", ".pptx", ".doc", ".xls", ".ppt", ".odt", ".ods", ".odp", ".epub", ".zip", ".gz", ".tar", ".7z",
		".png", ".jpg", ".jpeg", ".gif", ".webp", ".mp3", ".mp4", ".msg", ".exe", ".so", ".bin":
		return true
	}
	return false
}

func runAddDocument(ctx context.Context, c *call) (*reply, error) {
	p, err := docPath(c.v.str("path"))
	if err != nil {
		return nil, err
	}
	if notText(p) {
		return nil, fault.New(fault.Invalid, "not_text", "rag_add_document writes text and Markdown; %q is the name of another format", clip(encodeName(p), 100)).
			WithHint("Use a name that ends in .md or .txt, or put the file in the knowledge base's folder.")
	}
	name := decodeName(c.v.str("kb"))
	if _, err := c.kb(ctx, c.v.str("kb")); err != nil {
		may, mayErr := c.mayMake(ctx, name)
		if mayErr != nil {
			return nil, mayErr
		}
		if !may {
			return nil, err // the same for a KB of others and one that is not there
		}
	}
	if len(name) > maxKBName {
		return nil, fault.New(fault.Invalid, "bad_kb_name", "kb %q is %d bytes long; a name has at most %d", clip(encodeName(name), 40), len(name), maxKBName)
	}
	content := []byte(c.v.str("content"))
	if n := int64(len(content)); n > c.opts.Limits.DocumentBytes {
		return nil, fault.New(fault.Invalid, "too_large", "content has %d bytes; at most %d are allowed", n, c.opts.Limits.DocumentBytes)
	}
	doc := kbroot.DocPath{KB: name, Path: p}
	before := c.hexHash(doc)
	replaced, err := c.deps.Files.WriteFileIn(c.scope.root, doc, content)
	sum := sha256.Sum256(content)
	c.audit("add_document", doc, before, hex.EncodeToString(sum[:]), err)
	if err != nil {
		return nil, err
	}
	out := addOut{KB: encodeName(name), Path: encodeName(p), Queued: true, Replaced: replaced}
	if err := c.deps.Index.Enqueue(context.WithoutCancel(ctx), doc); err != nil {
		c.log.Warn("queueing a written document failed; the watcher will find it", "error", err)
		out.Queued, out.Note = false, "written; it will be indexed when the daemon notices the file: "+c.explain("rag_add_document", err).Message
	}
	what := "added"
	if replaced {
		what = "replaced"
	}
	line := fmt.Sprintf("%s/%s: %s and queued for indexing.", visible(out.KB, false), visible(out.Path, false), what)
	if !out.Queued {
		line = fmt.Sprintf("%s/%s: %s, but not queued: %s.", visible(out.KB, false), visible(out.Path, false), what, showText(out.Note))
	}
	return &reply{data: out, text: line}, nil
}

// mayMake tells whether this agent may make a KB of that name: one that its
// globs allow and that is nowhere yet, below a root that can hold it.
func (c *call) mayMake(ctx context.Context, name string) (bool, error) {
	below := c.scope.root == "" || slices.ContainsFunc(c.deps.Files.Roots(), func(r kbroot.RootState) bool {
		return r.Name == c.scope.root && !r.Mounted
	})
	refs, err := c.nameable(ctx)
	if err != nil {
		return false, err
	}
	_, taken := findKB(refs, name)
	return below && !taken && c.scope.allows(name), nil
}

func toolDeleteDocument() *tool {
	return &tool{
		name: "rag_delete_document", title: "Delete a document", writes: true, destructive: true, idempotent: true,
		desc: "Delete one document: its file, and everything of it in the index. There is no undo. existed is false when there was none of that path.",
		args: []arg{
			{name: "kb", desc: "Name of the knowledge base.", kind: argName, required: true},
			{name: "path", desc: "Path of the document, exactly as rag_list_documents shows it.", kind: argName, required: true},
		},
		out: object([]string{"kb", "path", "existed"}, map[string]schema{
			"kb": text("Knowledge base."), "path": text("Path."), "existed": boolean("It was there and is gone now."),
		}),
		run: runDeleteDocument,
	}
}

func runDeleteDocument(ctx context.Context, c *call) (*reply, error) {
	p, err := docPath(c.v.str("path"))
	if err != nil {
		return nil, err
	}
	ref, err := c.kb(ctx, c.v.str("kb"))
	if err != nil {
		return nil, err
	}
	if err := c.notAPart(ctx, ref, p); err != nil {
		return nil, err
	}
	doc := ref.doc(p)
	before := c.hexHash(doc)
	onDisk, err := c.deps.Files.Remove(doc)
	if err != nil {
		c.audit("delete_document", doc, before, before, err)
		return nil, err
	}
	// The file is gone: the index must follow even if the client is, too.
	indexed, err := c.deps.Index.Forget(context.WithoutCancel(ctx), doc)
	c.audit("delete_document", doc, before, "", err)
	if err != nil {
		return nil, err
	}
	out := deleteOut{KB: encodeName(ref.name), Path: encodeName(p), Existed: onDisk || indexed}
	line := fmt.Sprintf("%s/%s deleted.", visible(out.KB, false), visible(out.Path, false))
	if !out.Existed {
		line = fmt.Sprintf("There was no document %s in %s; nothing was deleted.", visible(out.Path, false), visible(out.KB, false))
	}
	return &reply{data: out, text: line}, nil
}

// notAPart refuses to delete a part of a document, which has no file.
func (c *call) notAPart(ctx context.Context, ref kbRef, p string) error {
	whole, _, isPart := strings.Cut(p, partSign)
	if !isPart || ref.id == 0 {
		return nil
	}
	if e, err := c.deps.Files.Stat(ref.doc(p)); err != nil || e.Verdict.Code != kbroot.Missing {
		return nil // a file of that very name
	}
	_, ok, err := c.deps.Store.Document(ctx, ref.id, whole)
	if err != nil || !ok {
		return err
	}
	return fault.New(fault.Invalid, "part_of_document", "%q is a part of the file %q and cannot be deleted alone", clip(encodeName(p), 100), clip(encodeName(whole), 100)).
		WithHint("Delete the whole file, or edit it.")
}

// audit notes a write, done or refused.
func (c *call) audit(action string, doc kbroot.DocPath, before, after string, err error) {
	a := Audit{
		At: time.Now(), Agent: c.opts.Agent.Name, Client: c.req.sess.info().Client, Action: action,
		KB: doc.KB, Path: doc.Path, Before: before, After: after, Outcome: "ok",
	}
	if err != nil {
		a.After, a.Outcome = before, "error"
		if e, ok := fault.As(err); ok {
			a.Outcome = e.Code
		}
	}
	c.log.Info("agent wrote", "action", a.Action, "agent", a.Agent, "client", a.Client, "kb", a.KB, "path", a.Path,
		"before", a.Before, "after", a.After, "outcome", a.Outcome)
	if c.deps.Audit != nil {
		c.deps.Audit(a)
	}
}
