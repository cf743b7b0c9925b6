package indexer

import (
	"context"
	"fmt"

	"ragd/internal/store"
	"ragd/kbroot"
)

// kbID returns the store's id of a KB seen before.
func (ix *Indexer) kbID(name string) (int64, bool) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	id, ok := ix.kbIDs[name]
	return id, ok
}

func (ix *Indexer) ensureKB(ctx context.Context, kb kbroot.KB) (int64, error) {
	info, err := ix.store.EnsureKB(ctx, kb.Name, kb.Root, kb.Dir, kb.Mounted)
	if err != nil {
		return 0, err
	}
	ix.mu.Lock()
	ix.kbIDs[kb.Name] = info.ID
	ix.mu.Unlock()
	return info.ID, nil
}

func (ix *Indexer) rootOfKB(ctx context.Context, name string) (string, bool) {
	kbs, err := ix.store.KBs(ctx)
	if err != nil {
		return "", false
	}
	for _, k := range kbs {
		if k.Name == name {
			return k.Root, true
		}
	}
	return "", false
}

// scanRoot compares a whole root: its list of KBs, then each of them.
func (ix *Indexer) scanRoot(ctx context.Context, name string) (Counts, error) {
	var total Counts
	if !ix.checkRoot(ctx, name) {
		if !ix.configured(name) {
			return ix.dropRoot(ctx, name)
		}
		return total, nil
	}
	kbs, err := ix.root.KBs()
	if err != nil {
		return total, err
	}
	present := map[string]bool{}
	var firstErr error
	for _, kb := range kbs {
		present[kb.Name] = true
		if kb.Root != name {
			continue
		}
		counts, err := ix.scanKB(ctx, kb, "")
		total.add(counts)
		if ctx.Err() != nil {
			return total, ctx.Err()
		}
		if err != nil && firstErr == nil {
			firstErr = fmt.Errorf("scan %q: %w", kb.Name, err)
		}
	}
	n, err := ix.dropKBs(ctx, name, present)
	total.Deleted += n
	if firstErr == nil {
		firstErr = err
	}
	return total, firstErr
}

// dropKBs removes KBs of a readable root whose folder is gone.
func (ix *Indexer) dropKBs(ctx context.Context, root string, present map[string]bool) (int, error) {
	kbs, err := ix.store.KBs(ctx)
	if err != nil {
		return 0, err
	}
	deleted := 0
	for _, k := range kbs {
		if k.Root != root || present[k.Name] {
			continue
		}
		if _, back := ix.root.KB(k.Name); back {
			continue
		}
		n, err := ix.dropKB(ctx, k)
		deleted += n
		if err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

func (ix *Indexer) dropKB(ctx context.Context, k store.KBInfo) (int, error) {
	ix.planMu.Lock() // no plan for it is written from here on
	defer ix.planMu.Unlock()
	ix.mu.Lock()
	if ix.kbIDs[k.Name] == k.ID {
		delete(ix.kbIDs, k.Name)
	}
	ix.mu.Unlock()
	n, err := ix.store.DeleteKB(ctx, k.ID, false)
	if err != nil {
		return int(n), err
	}
	ix.unsettled.Store(true)
	if n > 0 {
		ix.log.Info("knowledge base is gone from disk and from the index", "kb", k.Name, "documents", n)
	}
	ix.events.send(Event{Kind: EventDocument, KB: k.Name, What: WhatDeleted})
	return int(n), nil
}

// dropRoot removes the KBs of a root that is no longer configured.
func (ix *Indexer) dropRoot(ctx context.Context, root string) (Counts, error) {
	n, err := ix.dropKBs(ctx, root, map[string]bool{})
	return Counts{Deleted: n}, err
}

func (ix *Indexer) configured(root string) bool {
	for _, r := range ix.root.Roots() {
		if r.Name == root {
			return true
		}
	}
	return false
}

// checkRoot decides whether what a root shows may be believed. A root that
// is missing, unreadable, or that shows nothing although documents of it are
// indexed and its identity is not the one seen before, is held: nothing is
// purged until it is back or the user confirms with a reindex.
func (ix *Indexer) checkRoot(ctx context.Context, name string) bool {
	var state *kbroot.RootState
	for _, r := range ix.root.Roots() {
		if r.Name == name {
			state = &r
			break
		}
	}
	if state == nil {
		return false
	}
	if !state.Available {
		ix.hold(name, state.Reason)
		return false
	}
	id, err := ix.root.Fingerprint(name)
	if err != nil {
		ix.hold(name, err.Error())
		return false
	}
	if id.Entries == 0 && !ix.believesEmpty(name, id) {
		if n := ix.documentsOf(ctx, name); n > 0 {
			ix.hold(name, fmt.Sprintf("the folder is empty but %d documents of it are indexed; if that is right, run `ragd reindex`", n))
			return false
		}
	}
	ix.mu.Lock()
	ix.rootIDs[name] = rootSeen{id: id}
	_, was := ix.heldRoots[name]
	delete(ix.heldRoots, name)
	delete(ix.confirmed, name)
	ix.mu.Unlock()
	if was {
		ix.log.Info("root is back", "root", name)
		ix.events.send(Event{Kind: EventPhase})
	}
	return true
}

// believesEmpty: the same folder was seen with content by this process, or
// the user confirmed that it is empty.
func (ix *Indexer) believesEmpty(name string, id kbroot.RootID) bool {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.confirmed[name] {
		return true
	}
	seen, ok := ix.rootIDs[name]
	return ok && seen.id.Dev == id.Dev && seen.id.Inode == id.Inode
}

// sameRoot reports whether the root of a KB is the folder that was last scanned.
func (ix *Indexer) sameRoot(kb string) bool {
	k, ok := ix.root.KB(kb)
	if !ok {
		return false
	}
	id, err := ix.root.Fingerprint(k.Root)
	if err != nil {
		return false
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	seen, ok := ix.rootIDs[k.Root]
	return ok && seen.id.Dev == id.Dev && seen.id.Inode == id.Inode
}

func (ix *Indexer) documentsOf(ctx context.Context, root string) int64 {
	stats, err := ix.store.KBStats(ctx, nil)
	if err != nil {
		return 0
	}
	var n int64
	for _, k := range stats {
		if k.Root == root {
			n += k.Documents
		}
	}
	return n
}

func (ix *Indexer) hold(name, why string) {
	ix.mu.Lock()
	before := ix.heldRoots[name]
	ix.heldRoots[name] = why
	ix.mu.Unlock()
	if before != why {
		ix.log.Warn("root is not available; its documents stay as they are", "root", name, "reason", why)
		ix.events.send(Event{Kind: EventPhase})
	}
}

// HeldRoots returns the roots that cannot be believed just now, and why.
func (ix *Indexer) HeldRoots() map[string]string {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	out := make(map[string]string, len(ix.heldRoots))
	for k, v := range ix.heldRoots {
		out[k] = v
	}
	return out
}
