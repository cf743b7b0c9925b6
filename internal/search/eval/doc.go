// Package eval measures retrieval quality: it loads judged sets and computes
// nDCG, recall and reciprocal rank with bootstrap intervals, and compares two
// runs. It owns the metrics and the file formats; it does not search.
package eval
