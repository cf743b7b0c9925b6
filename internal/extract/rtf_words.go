package extract

// word carries out a control word.
func (r *rtfReader) word(word string, arg int, hasArg bool) {
	switch word {
	case "u":
		if hasArg && r.group.dest != rtfSkip && r.group.dest != rtfFontTable {
			r.unicode(arg)
		}
	case "uc":
		r.group.skip = min(max(arg, 0), 16)
	case "ansicpg":
		r.codePage = arg
	case "mac":
		r.codePage = 10000
	case "pc":
		r.codePage = 437
	case "pca":
		r.codePage = 850
	case "f":
		if r.group.dest == rtfFontTable {
			r.fontNow = arg
		} else {
			r.group.font = arg
		}
	case "fcharset":
		if r.group.dest == rtfFontTable && len(r.charsets) < rtfFontsMax {
			r.charsets[r.fontNow] = pageOfCharset(arg)
		}
	case "plain":
		r.group.hidden = false
	case "v":
		r.group.hidden = !hasArg || arg != 0
	default:
		if !r.layout(word, arg) {
			r.destination(word)
		}
	}
}

// layout handles what breaks and places text.
func (r *rtfReader) layout(word string, arg int) bool {
	if s, ok := rtfSymbols[word]; ok {
		r.put(s)
		return true
	}
	if r.group.dest != rtfText {
		return false
	}
	switch word {
	case "par", "sect", "page":
		r.endParagraph()
	case "pard":
		r.group.inTable, r.group.outline, r.group.list = false, 0, false
	case "intbl":
		r.group.inTable = true
	case "cell", "nestcell":
		r.endCell()
	case "row", "nestrow":
		r.endRow()
	case "outlinelevel":
		if arg >= 0 && arg < 9 {
			r.group.outline = arg + 1
		}
	case "ls", "pnlvlblt":
		r.group.list = true
	default:
		return false
	}
	return true
}

// rtfSymbols are words that stand for characters.
var rtfSymbols = map[string]string{
	"tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
	"bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ", "zwj": "\u200d", "zwnj": "\u200c",
}

// destination turns to where the group's text belongs. A destination that is
// marked as optional and not known here is left out, as the format demands.
func (r *rtfReader) destination(word string) {
	switch word {
	case "fonttbl":
		r.group.dest = rtfFontTable
	case "colortbl", "stylesheet", "listtable", "listoverridetable", "rsidtbl", "generator", "pict", "object", "objdata",
		"themedata", "colorschememapping", "datastore", "latentstyles", "filetbl", "revtbl", "xmlnstbl", "fldinst", "pgptbl",
		"bkmkstart", "bkmkend", "pntxta", "pntxtb", "nonshppict", "do", "sp", "userprops", "passwordhash",
		"headerf", "headerl", "headerr", "footerf", "footerl", "footerr", "xe", "tc", "atnid", "atndate", "atnref", "annotationdate",
		"listname", "leveltext", "levelnumbers", "mmathPr", "wgrffmtfilter", "operator", "company", "doccomm", "category":
		r.group.dest = rtfSkip
	case "listtext", "pntext":
		if r.group.dest == rtfText {
			r.group.dest, r.label = rtfLabel, ""
		}
	case "info":
		r.group.dest = rtfSkip
	case "title", "author", "subject", "keywords":
		if r.group.dest == rtfSkip {
			r.group.dest, r.field = rtfInfo, word
			r.info.Reset()
		}
	case "shptxt", "shprslt", "shpinst", "fldrslt", "footnote", "annotation", "header", "footer", "shp":
		if word == "shptxt" || word == "footnote" || word == "annotation" {
			r.group.dest = rtfText
		}
	case "upr":
	case "ud":
	default:
		if r.group.star {
			r.group.dest = rtfSkip
		}
	}
	r.group.star = false
}

// pageOfCharset maps a font's charset to a code page; 0 = the document's.
func pageOfCharset(c int) int {
	switch c {
	case 77:
		return 10000
	case 128:
		return 932
	case 129:
		return 949
	case 130:
		return 1361
	case 134:
		return 936
	case 136:
		return 950
	case 161:
		return 1253
	case 162:
		return 1254
	case 163:
		return 1258
	case 177:
		return 1255
	case 178:
		return 1256
	case 186:
		return 1257
	case 204:
		return 1251
	case 222:
		return 874
	case 238:
		return 1250
	case 254:
		return 437
	case 255:
		return 850
	}
	return 0
}
