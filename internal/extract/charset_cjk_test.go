package extract

import (
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
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
