package extract

import (
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
)

func TestShortEastAsianFilesAreDecoded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		enc  encoding.Encoding
		text string
	}{
		"Japanese table": {japanese.ShiftJIS, "名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\n高橋淳,35,名古屋\n"},
		"Japanese line":  {japanese.ShiftJIS, "これは短い文章です。"},
		"Japanese EUC":   {japanese.EUCJP, "これはとてもみじかいぶんしょうです。\n"},
		"Korean":         {korean.EUCKR, "이름,나이\n김철수,30\n이영희,25\n"},
		"Chinese":        {simplifiedchinese.GBK, "姓名,年龄,住址\n张三,30,北京市\n李四,25,上海市\n"},
		"French":         {charmap.Windows1252, "Élève, été, déjà vu; où êtes-vous ? À bientôt, Noël.\n"},
		"German":         {charmap.Windows1252, "Größe, Länge, Übergröße und Maß für Bücher\n"},
	} {
		raw, err := c.enc.NewEncoder().Bytes([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if d := decode(raw, ""); string(d.text) != c.text {
			t.Errorf("%s: %s gives %q", name, d.charset, d.text)
		}
	}
}

func TestWideEastAsianFilesWithoutAMarkAreDecoded(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"Japanese": "吾輩は猫である。名前はまだ無い。\nどこで生れたかとんと見当がつかぬ。\n",
		"Chinese":  "今天天气很好，我们一起去公园散步。\r\n看到了很多花。\r\n",
		"Korean":   "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.\n",
	}
	for name, text := range texts {
		for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
			data, err := unicode.UTF16(order, unicode.IgnoreBOM).NewEncoder().String(text)
			if err != nil {
				t.Fatal(err)
			}
			doc := mustExtract(t, "a.txt", []byte(data))
			if want := strings.ReplaceAll(text, "\r\n", "\n"); doc.Text.Body != want {
				t.Errorf("%s, %v: %q", name, order, doc.Text.Body)
			}
		}
	}
	for name, data := range map[string]string{
		"ASCII with NUL":   strings.Repeat("these are bytes of ASCII", 9) + "\n\x00",
		"Latin-1 with NUL": strings.Repeat("f\xfcr gr\xf6\xdfere V\xf6gel", 9) + "\n\x00",
		"noise":            "\n\x00" + string(noise(4000)),
	} {
		if d, ok := decodeWideCJK([]byte(data)); ok {
			t.Errorf("%s is taken for %s", name, d.charset)
		}
	}
}

// A NUL byte that got into a text makes no other script of it: its words stay.
func TestAStrayNULByteLosesNoWord(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"---\ntitle: a\x00b\n---\nthe walrus\n", "one\x00 line\n", "a b c\x00\x00\x00 d e f, the walrus and more of it\n",
		"\x00the walrus", "key\x00value\nname\x00walrus\n",
	} {
		for _, s := range []string{text, "x" + text} {
			if d := decode([]byte(s), ""); string(d.text) != s {
				t.Errorf("%q is %s: %q", s, d.charset, d.text)
			}
		}
	}
	for _, text := range []string{
		"hello", "a\n", "Wörter über Wörter\n", "x = 1; 日本語のテキスト\n", "Съешь же ещё этих мягких французских булок, да выпей чаю.\n",
		"Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.\n", "דג סקרן שט בים מאוכזב ולפתע מצא חברה\n", "نص حكيم له سر قاطع وذو شأن عظيم\n",
		"ऋषियों को सताने वाले दुष्ट राक्षसों के राजा\n",
	} {
		for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
			data, err := unicode.UTF16(order, unicode.IgnoreBOM).NewEncoder().String(text)
			if err != nil {
				t.Fatal(err)
			}
			if d := decode([]byte(data), ""); string(d.text) != text {
				t.Errorf("UTF-16 %q is %s: %q", text, d.charset, d.text)
			}
		}
	}
}

func noise(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}
