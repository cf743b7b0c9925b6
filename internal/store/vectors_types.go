package store

import "ragd/internal/fault"

// VectorModel names a vector space: vectors of equal keys may be compared.
type VectorModel struct {
	Key    string // of the model and of how texts are cut for it
	Name   string // for people
	Source string // how to open it again; meaningless to the store
	Dim    int
}

// VectorGeneration is the vectors of one model.
type VectorGeneration struct {
	ID int64
	VectorModel
	Serving bool // searches go to it
	Target  bool // new texts are embedded for it
}

// VectorStatus says how the vectors are doing.
type VectorStatus struct {
	Serving VectorGeneration // ID 0 = none
	Target  VectorGeneration // ID 0 = none
	Ready   bool             // the serving generation's codes are in memory
	Backlog int64            // active chunks that wait for vectors of the target, or of any when there is none
	Total   int64            // active chunks
	Failed  int64            // active chunks that got none
	Chunks  int64            // in memory
	Windows int64            // in memory
	Memory  int64            // bytes of the codes in memory
}

// EmbedChunk is a chunk that waits for its vectors.
type EmbedChunk struct {
	ID       int64 // of the chunk
	KB       string
	Path     string
	Title    string // "" when it is only the file's name
	Headings []string
	Content  string
	Code     bool // of a file of source code
}

// VectorHash identifies an embedded text: the first half of its SHA-256.
type VectorHash [16]byte

// WindowVector is one embedded part of a chunk.
type WindowVector struct {
	Hash       VectorHash
	Start, End int       // bytes of the chunk's content
	Vector     []float32 // nil: a vector of this hash is stored already
}

// EmbeddedChunk is the end of embedding one chunk: its windows (none when the
// chunk has no words), or why it failed.
type EmbeddedChunk struct {
	ID      int64
	Windows []WindowVector
	Failed  *fault.Error
}

// MeaningQuery asks for the chunks nearest to a vector.
type MeaningQuery struct {
	Generation int64 // whose model made Vector
	Vector     []float32
	Filter     Filter
	Limit      int     // at most 1000; larger is clamped
	Also       []int64 // chunks whose cosine is wanted whatever it is
}

// MeaningHit is one chunk with the cosine of its best window.
type MeaningHit struct {
	ChunkID    int64
	DocumentID int64
	Cosine     float64
}

// MeaningResult is what a MeaningQuery gave.
type MeaningResult struct {
	Hits []MeaningHit         // by Cosine descending, then ChunkID
	Also map[int64]MeaningHit // of those of Also that have vectors
}

// VectorGC says what CollectVectors dropped.
type VectorGC struct {
	Vectors     int64
	Generations int64
}
