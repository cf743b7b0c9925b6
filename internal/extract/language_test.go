package extract

import (
	"context"
	"strings"
	"testing"
)

var languageTexts = map[string]string{
	"en": "The committee met in the morning and decided that the budget for the coming year would be approved, but not all of its members were happy with this.",
	"de": "Der Ausschuss trat am Morgen zusammen und beschloss, dass der Haushalt für das kommende Jahr genehmigt wird, aber nicht alle Mitglieder waren damit zufrieden.",
	"fr": "Le comité s'est réuni dans la matinée et a décidé que le budget pour l'année à venir serait approuvé, mais pas tous les membres en étaient satisfaits.",
	"es": "El comité se reunió por la mañana y decidió que el presupuesto para el próximo año sería aprobado, pero no todos los miembros estaban contentos con esto.",
	"it": "Il comitato si è riunito in mattinata e ha deciso che il bilancio per il prossimo anno sarebbe stato approvato, ma non tutti i membri ne erano contenti.",
	"nl": "De commissie kwam in de ochtend bijeen en besloot dat de begroting voor het komende jaar wordt goedgekeurd, maar niet alle leden waren daar blij mee.",
	"pl": "Komisja zebrała się rano i zdecydowała, że budżet na przyszły rok zostanie zatwierdzony, ale nie wszyscy członkowie byli z tego zadowoleni, bo to jest za mało.",
	"cs": "Výbor se sešel ráno a rozhodl, že rozpočet na příští rok bude schválen, ale ne všichni členové s tím byli spokojeni, protože je to podle nich málo.",
	"ru": "Комитет собрался утром и решил, что бюджет на следующий год будет утверждён, но не все его члены были этим довольны, так как для них это мало.",
	"uk": "Комітет зібрався вранці і вирішив, що бюджет на наступний рік буде затверджено, але не всі його члени були цим задоволені, та це вже було.",
	"ja": "委員会は朝に開かれ、来年度の予算を承認することを決めましたが、すべての委員がこれに満足していたわけではありませんでした。また来月に開かれます。",
	"zh": "委员会在早上召开会议，决定批准明年的预算，但并非所有成员都对此感到满意。下个月将再次召开会议讨论这个问题，届时会有更多的人参加。",
	"ko": "위원회는 아침에 모여 내년도 예산을 승인하기로 결정했지만 모든 위원이 이에 만족한 것은 아니었다. 다음 달에 다시 모일 것이다.",
	"ar": "اجتمعت اللجنة في الصباح وقررت أن الميزانية في العام المقبل سوف تتم الموافقة عليها، لكن لم يكن كل الأعضاء على رضا عن هذا القرار الذي كان.",
	"el": "Η επιτροπή συνεδρίασε το πρωί και αποφάσισε ότι ο προϋπολογισμός για το επόμενο έτος θα εγκριθεί.",
	"he": "הוועדה התכנסה בבוקר והחליטה כי התקציב לשנה הבאה יאושר, אך לא כל החברים היו מרוצים מכך.",
	"hi": "समिति की सुबह बैठक हुई और यह तय किया गया कि अगले साल का बजट पास किया जाएगा, लेकिन सभी सदस्य इस से खुश नहीं थे और वह नहीं आए।",
	"tr": "Komite sabah toplandı ve gelecek yıl için bütçenin onaylanmasına karar verdi, ancak bu karar ile tüm üyeler memnun değil ve daha sonra bir kez daha toplanacak.",
}

func TestLanguageIsTold(t *testing.T) {
	t.Parallel()
	for want, text := range languageTexts {
		if got := detectLanguage(text); got != want {
			t.Errorf("%s: %q", want, got)
		}
	}
}

func TestLanguageIsLeftOpenWhereItIsUnsure(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":   "",
		"short":   "The end of it.",
		"numbers": strings.Repeat("12 34.5 -7; ", 200),
		"code":    strings.Repeat("foo = bar(baz) + qux[quux] * corge\n", 40),
		"names":   strings.Repeat("Anna Smith London Peter Novak Praha Jean Dupont Paris ", 20),
		"mixed":   languageTexts["en"] + languageTexts["ru"] + languageTexts["el"],
		"two":     languageTexts["de"] + " " + languageTexts["fr"] + " " + languageTexts["es"] + " " + languageTexts["en"],
		"broken":  strings.Repeat("\xff\xfe � ", 200),
	} {
		if got := detectLanguage(text); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestQualityFlagsPoorTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		q    Quality
		want string
	}{
		{"fine", Quality{Chars: 1000}, ""},
		{"one bad character", Quality{Chars: 20, BadShare: 0.05}, ""},
		{"noise", Quality{Chars: 1000, BadShare: 0.3}, "30 % of its characters are unreadable"},
		{"a blank page", Quality{Chars: 900, Pages: 10, EmptyPages: 1}, ""},
		{"a scan with a cover", Quality{Chars: 900, Pages: 10, EmptyPages: 9}, "9 of its 10 pages have no text"},
	} {
		if c.q.judge("", true); c.q.Flag != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.q.Flag, c.want)
		}
	}
}

func TestQualityNamesTheLanguage(t *testing.T) {
	t.Parallel()
	r := inProcess(t, Options{})
	for path, want := range map[string]string{"a.txt": "de", "a.md": "de", "a.go": ""} {
		doc, err := r.Extract(context.Background(), Source{Path: path, Data: []byte(languageTexts["de"])})
		if err != nil || doc.Quality.Language != want {
			t.Errorf("%s: %+v (%v), want %q", path, doc, err, want)
		}
	}
}

func FuzzDetectLanguage(f *testing.F) {
	for _, s := range languageTexts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if l := detectLanguage(s); len(l) != 0 && len(l) != 2 {
			t.Errorf("%q", l)
		}
	})
}
