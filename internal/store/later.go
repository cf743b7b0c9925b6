package store

import (
	"context"
	"errors"
)

var errUnbuilt = errors.New("store: not built yet")

func (s *Store) LexicalExpr(ctx context.Context, e Expr, f Filter, limit int) (LexicalResult, error) {
	return LexicalResult{}, errUnbuilt
}
func (s *Store) Prune(ctx context.Context) (PruneReport, error) { return PruneReport{}, errUnbuilt }
func (s *Store) Check(ctx context.Context, deep bool) (CheckReport, error) {
	return CheckReport{}, errUnbuilt
}
func (s *Store) Repair(ctx context.Context) (CheckReport, error) { return CheckReport{}, errUnbuilt }
