// Package embedtest holds what tests of embedding need: a deterministic fake,
// an OpenAI-compatible server over it, and the conformance suite that every
// embed.Embedder passes. It is imported by tests only.
package embedtest
