package extract

import (
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode"
)

const (
	languageSample  = 1000 // characters looked at, from three places
	languageLetters = 40   // fewer say nothing
	languageWords   = 12   // fewer say nothing, where words decide
	languageKinds   = 4    // different common words of a language, at least
	languageHits    = 0.15 // share of words that must be among a language's commonest
	languageLead    = 1.25 // times as many as of the next language
	languageScript  = 0.7  // share of letters that must be of one script
)

// detectLanguage returns the language of a text as ISO 639-1, or "" where it
// is short, mixed or not one of those known here.
func detectLanguage(body string) string {
	sample := languagePart(body)
	var byScript [len(scripts)]int
	letters := 0
	for _, r := range sample {
		if r < 0x80 {
			if 'a' <= r|0x20 && r|0x20 <= 'z' {
				letters++
				byScript[0]++
			}
			continue
		}
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		for i, s := range scripts {
			if unicode.Is(s.table, r) {
				byScript[i]++
				break
			}
		}
	}
	if letters < languageLetters {
		return ""
	}
	if l := eastAsian(byScript, letters); l != "" {
		return l
	}
	for i, n := range byScript {
		if float64(n) < languageScript*float64(letters) {
			continue
		}
		if scripts[i].words == nil {
			return scripts[i].language
		}
		return byWords(sample, scripts[i].words)
	}
	return ""
}

// scripts are looked at in order; those of several languages go on to words.
// Latin is the first.
var scripts = [...]struct {
	table    *unicode.RangeTable
	language string
	words    *wordLists
}{
	{unicode.Latin, "", latinWords},
	{unicode.Cyrillic, "", cyrillicWords},
	{unicode.Han, "zh", nil},
	{unicode.Hiragana, "ja", nil},
	{unicode.Katakana, "ja", nil},
	{unicode.Hangul, "ko", nil},
	{unicode.Arabic, "", arabicWords},
	{unicode.Hebrew, "he", nil},
	{unicode.Greek, "el", nil},
	{unicode.Thai, "th", nil},
	{unicode.Devanagari, "", devanagariWords},
	{unicode.Bengali, "bn", nil},
	{unicode.Tamil, "ta", nil},
	{unicode.Telugu, "te", nil},
	{unicode.Kannada, "kn", nil},
	{unicode.Malayalam, "ml", nil},
	{unicode.Gujarati, "gu", nil},
	{unicode.Gurmukhi, "pa", nil},
	{unicode.Sinhala, "si", nil},
	{unicode.Georgian, "ka", nil},
	{unicode.Armenian, "hy", nil},
	{unicode.Khmer, "km", nil},
	{unicode.Lao, "lo", nil},
	{unicode.Myanmar, "my", nil},
	{unicode.Tibetan, "bo", nil},
}

// eastAsian tells Japanese, Chinese and Korean apart, each of which may hold
// many Latin letters.
func eastAsian(n [len(scripts)]int, letters int) string {
	han, kana, hangul := n[2], n[3]+n[4], n[5]
	all := han + kana + hangul
	switch {
	case float64(all) < 0.4*float64(letters):
		return ""
	case hangul*2 > all:
		return "ko"
	case kana*10 > han+kana:
		return "ja"
	case han*10 > all*9 && kana*50 < han:
		return "zh"
	}
	return ""
}

// languagePart takes the beginning, the middle and the end of a text.
func languagePart(body string) string {
	if len(body) <= languageSample {
		return body
	}
	third := languageSample / 3
	mid, end := len(body)/2, len(body)-third
	return strings.ToValidUTF8(body[:third]+" "+body[mid:mid+third]+" "+body[end:], "")
}

// byWords counts the words that are common in one language or several.
func byWords(sample string, common *wordLists) string {
	var hits, kinds [maxLanguages]int
	var seen [maxSampleWords]bool
	words := 0
	for word := range strings.FieldsFuncSeq(strings.ToLower(sample), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		words++
		w, ok := common.words[word]
		if !ok {
			continue
		}
		for set := w.languages; set != 0; set &= set - 1 {
			l := bits.TrailingZeros32(set)
			hits[l]++
			if !seen[w.number] {
				kinds[l]++
			}
		}
		seen[w.number] = true
	}
	if words < languageWords {
		return ""
	}
	best, next := -1, -1
	for l := range common.names {
		switch {
		case best < 0 || hits[l] > hits[best]:
			best, next = l, best
		case next < 0 || hits[l] > hits[next]:
			next = l
		}
	}
	if kinds[best] < languageKinds || float64(hits[best]) < languageHits*float64(words) || float64(hits[best]) < languageLead*float64(hits[next]) {
		return ""
	}
	return common.names[best]
}

const (
	maxLanguages   = 32   // of one script: they are bits of a uint32
	maxSampleWords = 2048 // different words in all lists of a script
)

// wordLists are the commonest words of the languages of one script.
type wordLists struct {
	names []string // sorted; a language's place here is its bit
	words map[string]commonWord
}

type commonWord struct {
	number    int // counts the words of the lists
	languages uint32
}

// commonWords turns a list of words for each language into languages by word.
// There are at least two languages.
func commonWords(lists map[string]string) *wordLists {
	out := &wordLists{names: slices.Sorted(maps.Keys(lists)), words: map[string]commonWord{}}
	for l, language := range out.names {
		for word := range strings.FieldsSeq(lists[language]) {
			w, ok := out.words[word]
			if !ok {
				w.number = len(out.words)
			}
			w.languages |= 1 << l
			out.words[word] = w
		}
	}
	if len(out.names) > maxLanguages || len(out.words) > maxSampleWords {
		panic("extract: the lists of common words are too long")
	}
	return out
}

var latinWords = commonWords(map[string]string{
	"en": "the of and to in a is that for it with as was on are be by this not have from or an at which but they his you were their has been can will its we our if all more when one no than your may",
	"de": "der die und das in den von zu mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch wir ich",
	"fr": "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont avec ou elle aux cette nous vous mais comme leur été fait son ses ont sans être même",
	"es": "de la que el en y a los del se las por un para con no una su al lo como más pero sus le ya o este sí porque esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante es son ser ha",
	"pt": "de a o que e do da em um para com não uma os no se na por mais as dos como mas ao ele das à seu sua ou quando muito nos já eu também só pelo pela até isso ela entre depois sem mesmo aos ser é são foi está",
	"it": "di e il la che in a per un è del non una con i le si da al dei come più alla gli della nel sono ma anche lo delle dal ha su se o questo questa essere nella ci degli dalla sul tra cui",
	"nl": "de van het een en in is dat op te voor met zijn die niet aan er om ook als bij naar door maar uit dan nog worden wordt over hij ze heeft of wel kan meer hebben deze dit wat zo tot geen",
	"sv": "och i att det som en på är av för med till den inte har de om ett han men var från vi så kan när man sig hade också än efter eller nu vid skulle där under ska alla mycket blir",
	"da": "og i at det er en til på som med de af for ikke den har der et vi var han jeg men fra om også så kan hun sig eller efter være ved hvor når blev havde mere meget skal over nogle bliver ud",
	"no": "og i det er på en til som med for at av ikke den har de et vi var han jeg men fra om også så kan hun seg eller etter være ved hvor når ble hadde mer mye skal over noen blir ut fram dere",
	"fi": "ja on ei se että oli hän mutta ovat kun myös niin sen olla tai jos voi joka mukaan kuin ole mitä hänen sitä vain nyt jo sekä jotka kuitenkin koska jälkeen minä tämä ollut mikä",
	"pl": "i w na z do się nie że jest o to a jak po co od za dla są ale przez przy czy być było tak ich jego tym który która które może oraz także już tylko jako lub ten był",
	"cs": "a v se na je že s z do o to i jako za by si ve ale pro po jsou jeho od byl které který jen nebo tak podle být má k u při však až jsem ještě také když která bylo není jejich",
	"sk": "a v sa na je že s z do o to i ako za by si vo ale pre po sú jeho od bol ktoré ktorý len alebo tak podľa byť má k u pri však až som ešte tiež keď ktorá bolo nie ich",
	"hu": "a az és hogy nem is egy van ez meg de volt csak már el azt vagy mint ki még fel kell lehet azonban lesz így után minden pedig szerint ha ezt itt két több során",
	"ro": "de și în a la cu că pe nu o se din este care un pentru mai au ca sau sunt prin fi era dar după fost cel cea lui lor între această acest ei al ale să ce",
	"tr": "ve bir bu da de için ile çok olarak daha olan gibi en o kadar sonra ne ise ya ki var her ancak değil oldu olduğu tarafından göre iki kendi şekilde içinde üzerinde veya diye",
	"id": "yang dan di itu dengan untuk tidak ini dari dalam akan pada juga saya ke karena ada mereka oleh kami atau sebagai adalah bisa lebih telah dapat sudah tersebut orang secara",
	"vi": "và của là có không một trong được cho các người với để đã những này khi về từ đến cũng như ở ra vào làm tôi lại thì nhưng hay nhiều theo đó",
	"ca": "de la el i que a les en els per un és una amb no del es al l d més com són va o pel seva dels seu aquest però també ha sobre quan fins entre ser aquesta",
	"hr": "i u je na se da za su od a s kao o koji iz će to ne što bi ili ali nije do bio po koje sam kako koja te više samo svoje još već prema biti ima",
	"sl": "in je v na da se za so z pa ki ne s tudi po kot od o bi ali iz pri do še kako ni bilo bil več lahko samo kar po katerih zelo kjer",
	"et": "ja on ei et oli see ka kui mis aga oma siis ning või ta nii kes ning olid mida selle veel nagu seda pole pärast peale üle välja väga",
	"lt": "ir kad yra į iš su tai kaip bet jis ar buvo tik dar nuo po už per jo jau apie savo taip o labai jos jų gali prie šis",
	"lv": "un ir ka no ar par uz tas kas bet arī pie kā tiek pēc līdz bija lai jau vai to gan savu tikai šo viņš vairāk nav",
})

var cyrillicWords = commonWords(map[string]string{
	"ru": "и в не на что с как по это он к но из у за от так же для его все то вы бы о был она или если только уже при есть когда они также быть было может чтобы этого до ещё еще я мы",
	"uk": "і в не на що з як по це він до але із у за від так же для його все та ви б про був вона або якщо тільки вже при є коли вони також бути було може щоб цього ще я ми й",
	"bg": "и в не на че с как по това той към но от у за така също за неговия всички то са би е беше тя или ако само вече при има когато те може да бъде след до си ще които",
	"sr": "и у не на што са као по то он ка али из за од тако за његов све је би био она или ако само већ при има када они може да бити после до се ће који које су",
	"be": "і ў не на што з як па гэта ён да але у за ад так для яго усе і вы б быў яна ці калі толькі ўжо пры ёсць яны таксама быць было можа каб яшчэ я мы",
})

var arabicWords = commonWords(map[string]string{
	"ar": "في من على إلى أن ما هذا لا التي هو مع كان عن هذه الذي كل بعد قد أو بين لم ذلك هي كما كانت حتى إن ثم لكن عند عبر له منذ وهو",
	"fa": "و در به از که این را با است برای آن یک می خود تا بر هم شد نیز بود شده او ما اما یا کرد هر آنها باید بین پس کند هیچ",
	"ur": "کے میں کی ہے اور سے کا کو کہ پر نے اس ہیں یہ ایک بھی تھا وہ نہیں تو جو کر کیا گیا ہو لیے تھے تھی ان ساتھ",
})

var devanagariWords = commonWords(map[string]string{
	"hi": "के है में की और से को का पर यह कि भी नहीं हैं एक ने था इस तो लिए वह जो हो कर गया था थे थी तक अपने साथ",
	"mr": "आहे या आणि व च्या मध्ये ते हे की तो ही होते होता आहेत एक नाही पण त्या केला असे करून म्हणून येथे झाला साठी",
	"ne": "छ र को मा ले का लाई यो पनि छन् भएको हो गर्न एक तर थियो गरेको भने यस त्यो नेपाल हुने देखि गर्ने",
})
