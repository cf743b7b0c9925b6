// Package wordpiece is BERT's tokeniser: text to the ids of a fixed vocabulary.
//
// It owns cleaning, case and accent folding, the split into words and the
// longest-match split of words into pieces, all exactly as the models were
// trained with them: an id that differs from the reference is a fault here.
// It also owns windows, the split of a text that is too long for a model.
// It knows no model and adds no [CLS] or [SEP]; that is the caller's.
package wordpiece
