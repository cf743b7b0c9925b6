// Package safetensors reads and writes the safetensors layout: eight bytes of
// header length, a JSON header of names, types, shapes and offsets, the data.
//
// It checks every offset before it is used and holds no copy of the data. It
// knows no model.
package safetensors
