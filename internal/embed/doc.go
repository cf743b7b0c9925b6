// Package embed turns texts into vectors.
//
// It owns the model that is built into the binary, any other model of the BERT
// family read from a folder, the client of OpenAI-compatible servers, and the
// identity that says which vectors may be compared. Every vector it returns is
// of unit length, finite and of the identity's dimension.
//
// It does not store vectors, decide when a text is embedded, or retry: errors
// are classified (fault.Kind) and the pipeline decides.
package embed
