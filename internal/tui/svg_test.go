package tui

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPicturesAreWellFormedAndKeepTextColourAndColumns(t *testing.T) {
	frame := "\x1b[1;38;2;122;162;247mTitle\x1b[0m  <&> 日本\n\x1b[48;2;44;52;80m row \x1b[0mx\n\x1b[7m!\x1b[0m"
	got := SVG(frame, 20, 3, true)
	for _, want := range []string{
		`x="14.0" y="27" textLength="42.0" lengthAdjust="spacingAndGlyphs" fill="#7aa2f7" font-weight="bold">Title<`,
		">&lt;&amp;&gt;\u00a0日本<",
		`<rect x="14.0" y="32" width="42.0" height="18" fill="#2c3450"/>`,
		`x="56.0" y="45" textLength="8.4" lengthAdjust="spacingAndGlyphs">x<`,
		`fill="#c0caf5"/>`, `fill="#16161e">!<`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	if again := SVG(frame, 20, 3, true); again != got {
		t.Error("the same frame gives another picture")
	}
}

func TestEveryFrameBecomesAPictureThatCanBeRead(t *testing.T) {
	for _, sc := range scenes {
		frame := scene(t, sc.set, sc.open, [2]int{80, 24}, func(o *Options) { o.Color = TrueColor })
		wellFormed(t, SVG(frame, 80, 24, true))
	}
}

func TestThePictureOfTheReadmeIsThere(t *testing.T) {
	for file, part := range map[string]string{"README.md": "(docs/ragtui.svg)", "docs/ragtui.svg": "5\u00a0Documents"} {
		data, err := os.ReadFile(filepath.Join("..", "..", file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), part) && !strings.Contains(string(data), strings.ReplaceAll(part, "\u00a0", "&#xA0;")) {
			t.Errorf("%s holds no %q; make picture", file, part)
		}
		if strings.HasSuffix(file, ".svg") {
			wellFormed(t, string(data))
		}
	}
}

func wellFormed(t testing.TB, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
}

func FuzzPicturesAreWellFormed(f *testing.F) {
	for _, s := range []string{"", "\x1b[38;2;1;2;3mx\x1b[0m", "\x1b[38;2;999;;m\x1b[", "\x1b]0;x\x07", "\xff\x00", "a\u0301日"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { wellFormed(t, SVG(s, 80, 24, false)) })
}
