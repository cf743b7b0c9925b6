package extract

import (
	"context"
	"testing"
)

func TestODFListsAreNumberedAsShown(t *testing.T) {
	t.Parallel()
	styles := `<office:automatic-styles><text:list-style style:name="N"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>` +
		`<text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")" text:display-levels="2"/></text:list-style>` +
		`<text:list-style style:name="R"><text:list-level-style-number text:level="1" style:num-format="I" style:num-prefix="(" style:num-suffix=")" text:start-value="3"/></text:list-style>` +
		`<text:list-style style:name="B"><text:list-level-style-bullet text:level="1" text:bullet-char="x"/></text:list-style></office:automatic-styles>`
	item := func(s string) string { return `<text:list-item><text:p>` + s + `</text:p></text:list-item>` }
	body := `<office:body><office:text>` +
		`<text:list text:style-name="N">` + item("one") + `<text:list-item><text:p>two</text:p><text:p>more of two</text:p><text:list>` + item("inner") + `</text:list></text:list-item></text:list>` +
		`<text:p>between</text:p><text:list text:style-name="N" text:continue-numbering="true">` + item("three") + `</text:list>` +
		`<text:list text:style-name="R">` + item("roman") + `<text:list-item text:start-value="9"><text:p>nine</text:p></text:list-item></text:list>` +
		`<text:list text:style-name="B">` + item("bullet") + `</text:list><text:list>` + item("no style") + `</text:list>` +
		`</office:text></office:body>`
	root := `<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="t" xmlns:style="s">`
	want := "1. one\n2. two\n\nmore of two\n\n  2.a) inner\n\nbetween\n\n3. three\n(III) roman\n(IX) nine\n- bullet\n- no style\n"
	for path, data := range map[string][]byte{
		"a.fodt": []byte(root + styles + body + `</office:document>`),
		"a.odt":  pack(t, "styles.xml", root+styles+`</office:document>`, "content.xml", root+body+`</office:document>`),
	} {
		doc, err := inProcess(t, Options{}).Extract(context.Background(), Source{Path: path, Data: data})
		if err != nil || doc.Text.Body != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", path, err, doc.Text.Body, want)
		}
	}
}

func TestTitlesOfODFSlidesAreHeadings(t *testing.T) {
	t.Parallel()
	slide := func(title, text string) string {
		return `<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>` + title + `</text:p></draw:text-box></draw:frame>` +
			`<draw:frame presentation:class="outline"><draw:text-box><text:p>` + text + `</text:p></draw:text-box></draw:frame></draw:page>`
	}
	data := pack(t, "content.xml", `<office:document-content xmlns:office="o" xmlns:text="t" xmlns:draw="d" xmlns:presentation="p"><office:body><office:presentation>`+
		slide("Plans", "We begin.")+slide("Costs", "It costs.")+`</office:presentation></office:body></office:document-content>`)
	doc, err := inProcess(t, Options{}).Extract(context.Background(), Source{Path: "a.odp", Data: data})
	if err != nil || doc.Text.Body != "# Plans\n\nWe begin.\n\n# Costs\n\nIt costs.\n" || doc.Title != "Plans" || len(doc.Text.Sections) != 2 || doc.Text.Sections[1].Page != 2 {
		t.Errorf("%v %q %+v", err, doc.Text.Body, doc.Text.Sections)
	}
}
