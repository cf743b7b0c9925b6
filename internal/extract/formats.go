package extract

import "ragd/internal/chunk"

// formatGroup is a reader and the names that lead to it; extensions and names
// are lower case and separated by spaces.
type formatGroup struct {
	format     Format
	read       reader
	language   string
	ocr, safe  bool
	size       int
	extensions string
	names      string
}

// version sets the format's version.
func (g formatGroup) version(v int) formatGroup {
	g.format.Version = v
	return g
}

func plainText() fileType {
	return fileType{format: Format{Name: "text", Version: 1}, read: readText("text/plain", chunk.FormatPlain)}
}

// formatGroups lists every format. Archives are one only when they are to be
// opened, images and old Office documents only when helpers may run.
func formatGroups(archives, helpers bool) []formatGroup {
	text := plainText()
	groups := []formatGroup{
		{format: text.format, read: text.read,
			extensions: "txt text log out err me nfo diz ans lst readme changes",
			names:      "readme license licence copying authors contributors changelog changes news todo install notice version codeowners maintainers"},
		{format: Format{Name: "markdown", Version: 1}, read: readMarkdown,
			extensions: "md markdown mdown mdwn mkd mkdn mkdown mdx qmd rmd mdc livemd"},
		{format: Format{Name: "html", Version: 1, Worker: true}, read: readHTML, safe: true,
			extensions: "html htm xhtml xht shtml"},
	}
	groups = append(groups, workerGroups()...)
	if archives {
		groups = append(groups, formatGroup{format: Format{Name: archiveFormat, Version: 1, Worker: true}, read: readArchive, extensions: "zip tar gz tgz"})
	}
	if helpers {
		groups = append(groups, helperGroups()...)
	}
	groups = append(groups, markupGroups()...)
	return append(groups, codeGroups()...)
}

// markupGroups are formats that are text as they stand.
func markupGroups() []formatGroup {
	plain := func(name, mediaType, extensions string) formatGroup {
		return formatGroup{format: Format{Name: name, Version: 1}, read: readText(mediaType, chunk.FormatPlain), extensions: extensions}
	}
	data := func(name, mediaType, extensions, names string) formatGroup {
		return formatGroup{format: Format{Name: name, Version: 1}, read: readText(mediaType, chunk.FormatCode), language: name, extensions: extensions, names: names}
	}
	lines := func(name, mediaType string, format chunk.Format, do rewrite, extensions string) formatGroup {
		return formatGroup{format: Format{Name: name, Version: 1}, read: readLines(mediaType, format, do), language: "", extensions: extensions}
	}
	csv := plain("csv", "text/csv", "csv")
	csv.read = readTable("text/csv", ",;\t|")
	tsv := plain("tsv", "text/tab-separated-values", "tsv tab")
	tsv.read = readTable("text/tab-separated-values", "\t")
	json := data("json", "application/json", "json json5 jsonc jsonl ndjson geojson webmanifest har", "composer.lock")
	json.read = readLines("application/json", chunk.FormatCode, rewriteJSON)
	return []formatGroup{
		csv, tsv, json,
		lines("rst", "text/x-rst", chunk.FormatMarkdown, rewriteRST, "rst rest"),
		lines("org", "text/x-org", chunk.FormatMarkdown, rewriteOrg, "org"),
		lines("asciidoc", "text/asciidoc", chunk.FormatMarkdown, rewriteAsciiDoc, "adoc asciidoc asc"),
		lines("latex", "application/x-tex", chunk.FormatMarkdown, rewriteLaTeX, "tex latex ltx"),
		lines("typst", "text/x-typst", chunk.FormatMarkdown, rewriteTypst, "typ"),
		lines("subtitles", "text/vtt", chunk.FormatPlain, rewriteSubtitles, "srt vtt sbv"),
		lines("po", "text/x-gettext-translation", chunk.FormatPlain, rewritePO, "po"),
		lines("calendar", "text/calendar", chunk.FormatPlain, rewriteCalendar, "ics ical vcf vcard"),
		data("tex-source", "application/x-tex", "sty cls bst dtx ins", ""),
		plain("bibtex", "text/x-bibtex", "bib"),
		data("xml-data", "application/xml", "xsd xsl xslt plist kml gpx wsdl xliff xlf resx csproj fsproj vbproj props targets", ""),
		data("yaml", "application/yaml", "yaml yml", ".clang-format .clang-tidy"),
		data("toml", "application/toml", "toml", "cargo.lock poetry.lock uv.lock pipfile"),
		data("ini", "text/plain", "ini cfg conf cnf config properties editorconfig desktop service timer socket mount inf reg", ".editorconfig .gitconfig .npmrc .flake8 .pylintrc"),
	}
}

// workerGroups are the formats that run in the child process.
func workerGroups() []formatGroup {
	worker := func(name string, read reader, extensions string) formatGroup {
		return formatGroup{format: Format{Name: name, Version: 1, Worker: true}, read: read, extensions: extensions}
	}
	pdf := worker("pdf", readPDF, "pdf").version(2)
	pdf.ocr = true
	return []formatGroup{
		pdf,
		worker("docx", readDOCX, "docx docm dotx dotm"),
		worker("pptx", readPPTX, "pptx pptm ppsx ppsm potx potm"),
		worker("epub", readEPUB, "epub"),
		worker("rtf", readRTF, "rtf"),
		worker("eml", readEML, "eml emlx"),
		worker("mbox", readMbox, "mbox mbx"),
		worker("msg", readMSG, "msg oft"),
		worker("odf", readODF, "odt ods odp ott ots otp odg otg odm").version(2),
		worker("odf-flat", readFlatODF, "fodt fods fodp fodg").version(2),
		worker("ipynb", readNotebook, "ipynb"),
		worker("xml", readXML, "ttml dfxp xml rss atom nxml dita docbook tei opml"),
		worker("xlsx", readXLSX, "xlsx xlsm xltx xltm xlam").version(2),
	}
}

// helperGroups are the formats that need a program which is not ours. Images
// are taken in even where tesseract is missing: the job says what to install.
// An old Office format is one only where its helper is.
func helperGroups() []formatGroup {
	worker := func(name string, read reader, extensions string) formatGroup {
		return formatGroup{format: Format{Name: name, Version: 1, Worker: true}, read: read, extensions: extensions}
	}
	image := worker("image", readImage, "png jpg jpeg gif bmp tif tiff webp")
	image.ocr = true
	groups := []formatGroup{image}
	for _, old := range []struct{ name, extensions string }{{"doc", "doc dot"}, {"xls", "xls xlt"}, {"ppt", "ppt pps pot"}} {
		for _, tool := range oldOfficeTools[old.name] {
			if findHelper(tool[0]) != "" {
				groups = append(groups, worker(old.name, readOldOffice(old.name), old.extensions))
				break
			}
		}
	}
	return groups
}
