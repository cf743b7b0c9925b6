package extract

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"ragd/internal/chunk"
)

// codeSamples are small files of each language and the heading paths of the
// parts that they are cut into; "-" is a part outside of definitions.
var codeSamples = []struct{ path, text, want string }{
	{"a.go", "package a\n\n// T is a type.\ntype T struct {\n\tn int\n}\n\n// Get gets.\nfunc (t *T[K]) Get() int {\n\treturn t.n\n}\n\nfunc Free() {\n\tprintln()\n}\n\ntype (\n\tA struct {\n\t\tx int\n\t}\n\n\t// B is.\n\tB interface {\n\t\tF()\n\t}\n)\n",
		"- | T | T>Get | Free | A | B"},
	{"a.py", "import os\n\nLIMIT = 5\n\n@dataclass\nclass Shelf:\n    \"\"\"Holds books.\"\"\"\n    size: int\n\n    # Puts one in.\n    @property\n    def put(self):\n        def inner():\n            pass\n        return 1\n\n    class Row:\n        def at(self):\n            return 2\n\nasync def main():\n    await x\n\nif True:\n    def late():\n        pass\n",
		"- | Shelf | Shelf>put | Shelf>Row | Shelf>Row>at | main | - | late"},
	{"a.js", "'use strict';\n\n/** Adds. */\nexport function add(a, b) {\n  return a + b;\n}\n\nexport default class Box extends Base {\n  size = 1;\n\n  // opens\n  open() {\n    return 1;\n  }\n}\n\nconst close = async (x) => {\n  await x;\n};\n\nBox.prototype.shut = function () {\n  return 0;\n};\n",
		"- | add | Box | Box>open | close | Box.prototype.shut"},
	{"a.ts", "interface Shape {\n  area(): number;\n}\n\nexport enum Kind {\n  A,\n  B,\n}\n\nnamespace geo {\n  export abstract class Circle implements Shape {\n    constructor(private r: number) {\n      super();\n    }\n    area(): number {\n      return 1;\n    }\n  }\n}\n\ntype Pair<T> = {\n  a: T;\n};\n",
		"Shape | Kind | geo | geo>Circle | geo>Circle>constructor | geo>Circle>area | Pair"},
	{"a.tsx", "export const Button = (props: Props) => {\n  return <button onClick={props.go}>Go</button>;\n};\n\nfunction Page() {\n  return <Button/>;\n}\n",
		"Button | Page"},
	{"a.c", "#include <stdio.h>\n\n/* A point. */\ntypedef struct {\n\tint x;\n} point_t;\n\nstruct node {\n\tint v;\n};\n\n#ifdef DEBUG\nstatic int *\nfind(struct node *n, int v)\n{\n\treturn 0;\n}\n#endif\n\n#define SWAP(a, b) \\\n\tdo { } while (0)\n\nint main(void) {\n\treturn 0;\n}\n",
		"- | point_t | node | - | find | SWAP | main"},
	{"a.cpp", "#include <vector>\n\nnamespace shop {\n\n// A till.\nclass Till : public Box {\n public:\n  int count() const {\n    return n_;\n  }\n\n private:\n  int n_;\n};\n\ntemplate <typename T>\nT most(const T& a) {\n  return a;\n}\n\n}  // namespace shop\n\nvoid shop::Till::clear() {\n  n_ = 0;\n}\n",
		"- | shop | shop>Till | shop>Till>count | shop>Till | shop>most | shop>Till>clear"},
	{"a.h", "#pragma once\n\nclass Widget {\n public:\n  void draw() {\n    paint();\n  }\n};\n", "- | Widget | Widget>draw"},
	{"A.java", "package a;\n\nimport java.util.*;\n\n/** Keeps accounts. */\n@Service\npublic class Bank {\n  private int n;\n\n  /** Pays. */\n  @Override\n  public void pay(int x) {\n    n -= x;\n  }\n\n  enum Kind { A,\n    B }\n\n  Bank() {\n    n = 0;\n  }\n}\n",
		"- | Bank | Bank>pay | Bank>Kind | Bank>Bank"},
	{"a.cs", "using System;\n\nnamespace Shop\n{\n    /// <summary>Till.</summary>\n    public class Till\n    {\n        public int Count\n        {\n            get; set;\n        }\n\n        public void Clear()\n        {\n            Count = 0;\n        }\n    }\n}\n",
		"- | Shop | Shop>Till | Shop>Till>Count | Shop>Till>Clear"},
	{"a.php", "<?php\nnamespace App;\n\nuse X;\n\n/** A till. */\nclass Till {\n    private $n;\n\n    /** Clears. */\n    public function clear() {\n        $this->n = 0;\n    }\n}\n\nfunction help() {\n    return 1;\n}\n",
		"- | Till | Till>clear | help"},
	{"a.rb", "require 'x'\n\nmodule Shop\n  # A till.\n  class Till < Box\n    attr_reader :n\n\n    # Clears.\n    def clear\n      @n = 0\n    end\n\n    def self.open\n      new\n    end\n  end\nend\n",
		"- | Shop | Shop>Till | Shop>Till>clear | Shop>Till>open"},
	{"a.rs", "use std::fmt;\n\n/// A till.\n#[derive(Debug)]\npub struct Till<T> {\n    n: T,\n}\n\nimpl<T> fmt::Display for Till<T> {\n    /// Writes.\n    fn fmt(&self) -> fmt::Result {\n        Ok(())\n    }\n}\n\nmod inner {\n    pub fn help() {\n        run()\n    }\n}\n\nmacro_rules! twice {\n    ($x:expr) => { $x; $x };\n}\n",
		"- | Till | Till | Till>fmt | inner | inner>help | twice"},
	{"a.sh", "#!/bin/bash\nset -e\n\n# Says hello.\nhello() {\n  echo hello\n}\n\nfunction bye {\n  echo bye\n}\n\nhello\n", "- | hello | bye | -"},
}

func sectionPaths(sections []chunk.Section) string {
	var out []string
	for _, s := range sections {
		path := strings.Join(s.Headings, ">")
		if path == "" {
			path = "-"
		}
		out = append(out, path)
	}
	return strings.Join(out, " | ")
}

func TestSourceCodeIsCutIntoItsDefinitions(t *testing.T) {
	t.Parallel()
	r := inProcess(t, Options{})
	for _, c := range codeSamples {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			doc, err := r.Extract(context.Background(), Source{Path: c.path, Data: []byte(c.text)})
			if err != nil {
				t.Fatal(err)
			}
			checkDocument(t, doc)
			if doc.Text.Body != c.text {
				t.Fatalf("the text was changed: %q", doc.Text.Body)
			}
			if got := sectionPaths(doc.Text.Sections); got != c.want {
				t.Errorf("parts\n %s\nwant\n %s", got, c.want)
				for _, s := range doc.Text.Sections {
					t.Logf("%q\n%s", s.Headings, doc.Text.Body[s.Start:s.End])
				}
			}
		})
	}
}

func TestCodeThatCannotBeParsedIsStillRead(t *testing.T) {
	t.Parallel()
	r := inProcess(t, Options{})
	for name, c := range map[string]struct{ path, text string }{
		"another language": {"a.java", strings.Repeat("%%% not ( java ] at } all \n", 100)},
		"binary-like":      {"a.rs", strings.Repeat("\u00ff{{{<<<((( ", 100)},
		"too large":        {"a.c", "int f(void) {\n\treturn 1;\n}\n" + strings.Repeat("int x;\n", codeSourceMax/7)},
		"nothing defined":  {"a.sh", "echo one\necho two\n"},
		"empty":            {"a.go", ""},
		"cut off":          {"a.py", "class A:\n    def f(self):\n        return (1,\n"},
		"no grammar":       {"a.kt", "fun f() {\n  println()\n}\n"},
	} {
		doc, err := r.Extract(context.Background(), Source{Path: c.path, Data: []byte(c.text)})
		if err != nil || doc.Text.Body != c.text {
			t.Errorf("%s: %v", name, err)
			continue
		}
		checkDocument(t, doc)
		if name != "cut off" && len(doc.Text.Sections) > 0 {
			t.Errorf("%s: parts %s", name, sectionPaths(doc.Text.Sections))
		}
	}
}

func TestParsingStopsInTime(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	text := strings.Repeat("a<b<c<d(", codeSourceMax/9)
	if _, err := parseCode(text, "cpp", threadTime()+20*time.Millisecond); !errors.Is(err, errCodeTime) {
		t.Errorf("parsing did not stop: %v", err)
	}
}

// TestCodeSurvivesItsWorker: what kills or stops the worker costs source code
// its structure only.
func TestCodeSurvivesItsWorker(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"exit", "panic", "hang"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r, err := New(Options{Pool: newPool(t, WorkerLimits{Timeout: 3 * time.Second})})
			if err != nil {
				t.Fatal(err)
			}
			r.byExt["misbehave"] = fileType{format: Format{Name: "misbehave", Version: 1, Worker: true}, read: readCode, size: codeSourceMax, env: r.env}
			doc, err := r.Extract(context.Background(), Source{Path: "a.misbehave", Data: []byte(what)})
			if what == "panic" { // an answer like any other: the reader's fault, not the worker's end
				if err == nil {
					t.Errorf("a reader's fault was taken for text: %+v", doc)
				}
				return
			}
			if err != nil || doc.Text.Body != what {
				t.Errorf("%+v (%v)", doc, err)
			}
		})
	}
}

func TestCodeGoesThroughTheWorker(t *testing.T) {
	t.Parallel()
	r, err := New(Options{Pool: newPool(t, WorkerLimits{})})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range codeSamples[:3] {
		doc, err := r.Extract(context.Background(), Source{Path: c.path, Data: []byte(c.text)})
		if err != nil || sectionPaths(doc.Text.Sections) != c.want {
			t.Errorf("%s: %+v (%v)", c.path, doc, err)
		}
	}
	f, _, _ := r.Lookup("a.kt")
	if g, _, _ := r.Lookup("a.py"); f.Version == g.Version || f.Worker || !g.Worker {
		t.Errorf("formats %+v and %+v: a language without a grammar is read as before", f, g)
	}
}

func FuzzCodeSections(f *testing.F) {
	languages := make([]string, 0, len(grammars))
	for l := range grammars {
		languages = append(languages, l)
	}
	slices.Sort(languages)
	for i := range codeSamples {
		for l := range languages {
			f.Add(codeSamples[i].text, uint8(l))
		}
	}
	f.Fuzz(func(t *testing.T, text string, l uint8) {
		n := normalise(decoded{text: []byte(text)})
		doc := &Document{Text: chunk.Text{Body: n.body, Format: chunk.FormatCode, Sections: codeSections(n.body, languages[int(l)%len(languages)])}}
		checkDocument(t, doc)
		chunk.Split(doc.Text, chunk.Options{})
	})
}
