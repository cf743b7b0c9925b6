package analysis

import "strings"

// stopWords are English words that carry no subject: articles, pronouns,
// prepositions, auxiliaries, and what questions are opened with. They are
// indexed, because phrases need them; queries that have other words leave
// them out. Words that are also technical names (not: a query "not null"; on,
// off, if, for in code) are no loss, since they are so frequent anyway.
var stopWords = func() map[string]struct{} {
	m := make(map[string]struct{}, 256)
	for _, w := range strings.Fields(`
a about above after again against all also am an and any are arent as at be
because been before being below between both but by can cannot cant could
couldnt did didnt do does doesnt doing done dont down during each either else
ever every few for from further get gets getting had hadnt has hasnt have
havent having he her here hers herself him himself his how however i if im in
into is isnt it its itself just let like ll may me might mightnt more most
much must mustnt my myself neednt no nor not now of off on once one only onto
or other our ours ourselves out over own per please quite rather re s same
shall shant she should shouldnt so some such t than that the their theirs
them themselves then there these they this those though through thus to too
under until up upon us use used uses using ve very via was wasnt we well were
werent what whats when where whether which while who whom whose why will with
within without wont would wouldnt yes yet you your yours yourself yourselves`) {
		m[w] = struct{}{}
	}
	return m
}()

func isStopWord(word string) bool {
	_, ok := stopWords[word]
	return ok
}

// IsStop reports whether term, in its analysed form, is an English stop word.
func IsStop(term string) bool { return isStopWord(term) }
