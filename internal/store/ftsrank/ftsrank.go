// Package ftsrank adds the ranking function ragd_rank to every SQLite
// connection of the process. It owns the function (rank.c) and the layout of
// its parameters; it does not know how idf is estimated or a query planned.
package ftsrank

/*
#include "rank.h"
*/
import "C"

import (
	"encoding/binary"
	"errors"
	"math"
)

// Bounds of what the function takes.
const (
	Lengths    = C.RAGD_RANK_LENGTHS
	MaxPhrases = C.RAGD_RANK_PHRASES
	MaxClauses = C.RAGD_RANK_CLAUSES
)

// Register makes every connection opened from now on know ragd_rank. Calling
// it again does nothing.
func Register() error {
	if rc := C.ragd_rank_register(); rc != 0 {
		return errors.New("ftsrank: SQLite does not take the ranking function")
	}
	return nil
}

// Params are what one query hands to the function.
type Params struct {
	K1, B                 float64
	Title, Headings, Body float64 // column weights
	AverageLength         float64 // terms of a body; ≤ 0 turns off normalisation
	Clauses               int
	Phrases               []Phrase // in the order of the MATCH expression, ignored ones included; those that are missing at the end are not scored
}

// Phrase is the weight of one phrase of the expression.
type Phrase struct {
	Weight float64 // 0 = not scored
	Clause int
}

// Encode gives the blob that ragd_rank takes.
func (p Params) Encode() []byte {
	out := make([]byte, 0, 40+8*Lengths+16*len(p.Phrases))
	order := binary.NativeEndian
	float := func(f float64) { out = order.AppendUint64(out, math.Float64bits(f)) }
	out = order.AppendUint32(out, uint32(len(p.Phrases)))
	out = order.AppendUint32(out, uint32(p.Clauses))
	float(p.K1)
	float(p.Title)
	float(p.Headings)
	float(p.Body)
	for b := range Lengths {
		norm := 1.0
		if p.AverageLength > 0 {
			norm = 1 - p.B + p.B*Length(b)/p.AverageLength
		}
		float(norm)
	}
	for _, ph := range p.Phrases {
		float(ph.Weight)
		out = order.AppendUint32(out, uint32(ph.Clause))
		out = order.AppendUint32(out, 0)
	}
	return out
}

// Bucket is the step of the length scale for a body of n terms; steps are a
// factor of 2^(1/3) apart, so a length is known to within 13 %.
func Bucket(n int) int {
	if n < 4 {
		return 0
	}
	b := int(math.Round(3 * math.Log2(float64(n)/4)))
	return min(b, Lengths-1)
}

// Length is the length that a bucket stands for.
func Length(bucket int) float64 { return 4 * math.Exp2(float64(bucket)/3) }
