package chunk

// Options say how large chunks are, in characters (code points).
type Options struct {
	Target  int // the size aimed at; 0 = 1400
	Max     int // hard cap of a chunk's Content, Prefix included; 0 = 3200
	Overlap int // most that a chunk repeats of the one before when a paragraph is cut; 0 = 160, negative = none
}

// Split cuts t into chunks. They are in order, every character that is not
// white space lies in at least one of them, none is longer than o.Max, and no
// cut is inside a grapheme (unless one grapheme alone exceeds the cap). The
// slice is nil when there is nothing but white space.
func Split(t Text, o Options) []Chunk {
	return nil
}
