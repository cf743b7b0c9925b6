// Package archtest holds the picture in docs/architecture.md against the code:
// floors, one-way imports, where third-party code may be, and that every
// package says what it owns. It has tests only.
package archtest
