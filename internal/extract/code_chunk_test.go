package extract

import (
	"context"
	"slices"
	"strings"
	"testing"

	"ragd/internal/chunk"
)

// codeChunk is one chunk that a file is to give: what it begins with, what its
// definition ends with, and the symbol that it is under. What only closes
// types around it may follow.
type codeChunk struct{ path, first, last string }

// codeChunkSamples has a file of each language that is parsed.
var codeChunkSamples = []struct {
	file, text string
	want       []codeChunk
}{
	{"a.go", "package stack\n\nimport \"fmt\"\n\n// Stack holds what was pushed.\ntype Stack struct {\n\titems []int\n}\n\n// Pop takes the newest.\nfunc (s *Stack) Pop() int {\n\treturn 1\n}\n\n// New makes one.\nfunc New() *Stack {\n\treturn &Stack{}\n}\n",
		[]codeChunk{{"Stack", "// Stack holds", "}"}, {"Stack>Pop", "// Pop takes", "}"}, {"New", "// New makes", "}"}}},
	{"a.py", "import os\n\n# Holds books.\n@dataclass\nclass Shelf:\n    \"\"\"A shelf.\"\"\"\n    size: int\n\n    # Finds one.\n    @cached\n    def find(self):\n        \"\"\"By name.\"\"\"\n        return 1\n\n    class Row:\n        # At a place.\n        def at(self):\n            return 2\n\ndef main():\n    \"\"\"Runs.\"\"\"\n    run()\n",
		[]codeChunk{{"Shelf", "# Holds books.", "size: int"}, {"Shelf>find", "# Finds one.", "return 1"}, {"Shelf>Row>at", "# At a place.", "return 2"}, {"main", "def main", "run()"}}},
	{"a.js", "'use strict';\n\n/** A box. */\nexport class Box {\n  size = 1;\n\n  /** Opens it. */\n  open() {\n    return 1;\n  }\n}\n\n// Adds two.\nexport const add = (a, b) => {\n  return a + b;\n};\n",
		[]codeChunk{{"Box", "/** A box. */", "size = 1;"}, {"Box>open", "/** Opens it. */", "}"}, {"add", "// Adds two.", "};"}}},
	{"a.ts", "import x from 'x';\n\n/** A shape. */\nexport interface Shape {\n  area(): number;\n}\n\nexport class Circle implements Shape {\n  /** Its area. */\n  area(): number {\n    return 1;\n  }\n}\n\n/** One of two. */\nexport enum Kind {\n  A,\n  B,\n}\n",
		[]codeChunk{{"Shape", "/** A shape. */", "}"}, {"Circle>area", "/** Its area. */", "}"}, {"Kind", "/** One of two. */", "}"}}},
	{"a.tsx", "import React from 'react';\n\n/** A button. */\nexport const Button = (props: Props) => {\n  return <button>Go</button>;\n};\n\n// The page.\nfunction Page() {\n  return <Button/>;\n}\n",
		[]codeChunk{{"Button", "/** A button. */", "};"}, {"Page", "// The page.", "}"}}},
	{"a.c", "#include <stdio.h>\n\n/* A point. */\nstruct point {\n\tint x;\n};\n\n/*\n * Finds one.\n */\nstatic int *find(int v)\n{\n\treturn 0;\n}\n",
		[]codeChunk{{"point", "/* A point. */", "};"}, {"find", "/*\n * Finds one.", "}"}}},
	{"a.cpp", "#include <vector>\n\nnamespace shop {\n\n/// A till.\nclass Till {\n public:\n  /// Counts.\n  int count() const {\n    return n_;\n  }\n};\n\n}  // namespace shop\n\n// Empties it.\nvoid shop::Till::clear() {\n  n_ = 0;\n}\n",
		[]codeChunk{{"shop>Till", "/// A till.", "public:"}, {"shop>Till>count", "/// Counts.", "}"}, {"shop>Till>clear", "// Empties it.", "}"}}},
	{"A.java", "package a;\n\nimport java.util.*;\n\n/** Keeps accounts. */\n@Service\npublic class Bank {\n  private int n;\n\n  /**\n   * Pays.\n   */\n  @Override\n  public void pay(int x) {\n    n -= x;\n  }\n}\n",
		[]codeChunk{{"Bank", "/** Keeps accounts. */", "private int n;"}, {"Bank>pay", "/**\n   * Pays.", "}"}}},
	{"a.cs", "using System;\n\nnamespace Shop\n{\n    /// <summary>A till.</summary>\n    public class Till\n    {\n        int n;\n\n        /// <summary>Empties it.</summary>\n        [Obsolete]\n        public void Clear()\n        {\n            n = 0;\n        }\n    }\n}\n",
		[]codeChunk{{"Shop>Till", "/// <summary>A till.", "int n;"}, {"Shop>Till>Clear", "/// <summary>Empties it.", "}"}}},
	{"a.php", "<?php\n\nuse X;\n\n/** A till. */\nclass Till {\n    private $n;\n\n    /** Empties it. */\n    public function clear() {\n        $this->n = 0;\n    }\n}\n\n// Helps.\nfunction help() {\n    return 1;\n}\n",
		[]codeChunk{{"Till", "/** A till. */", "private $n;"}, {"Till>clear", "/** Empties it. */", "}"}, {"help", "// Helps.", "}"}}},
	{"a.rb", "require 'x'\n\nmodule Shop\n  # A till.\n  class Till\n    attr_reader :n\n\n    # Empties it.\n    def clear\n      @n = 0\n    end\n  end\nend\n",
		[]codeChunk{{"Shop>Till", "# A till.", "attr_reader :n"}, {"Shop>Till>clear", "# Empties it.", "end"}}},
	{"a.rs", "use std::fmt;\n\n/// A till.\n#[derive(Debug)]\npub struct Till {\n    n: u8,\n}\n\nimpl Till {\n    /// Empties it.\n    #[inline]\n    pub fn clear(&mut self) {\n        self.n = 0;\n    }\n}\n\n/// What can be shut.\npub trait Shut {\n    /// Shuts it.\n    fn shut(&self) {\n        ()\n    }\n}\n",
		[]codeChunk{{"Till", "/// A till.", "}"}, {"Till>clear", "/// Empties it.", "}"}, {"Shut>shut", "/// Shuts it.", "}"}}},
	{"a.sh", "#!/bin/bash\nset -e\n\n# Says hello.\nhello() {\n  echo hello\n}\n\n# Says goodbye.\nfunction bye {\n  echo bye\n}\n",
		[]codeChunk{{"hello", "# Says hello.", "}"}, {"bye", "# Says goodbye.", "}"}}},
}

// TestADefinitionIsAChunkWithItsComment goes from the file to the chunks, as
// they are indexed: under its symbol and the types around it each function,
// method and type stands apart from the others, from its comment to its end.
func TestADefinitionIsAChunkWithItsComment(t *testing.T) {
	t.Parallel()
	r := inProcess(t, Options{})
	covered := map[string]bool{}
	for _, c := range codeChunkSamples {
		f, _, _ := r.lookup(c.file)
		covered[f.language] = true
		t.Run(c.file, func(t *testing.T) {
			t.Parallel()
			doc, err := r.Extract(context.Background(), Source{Path: c.file, Data: []byte(c.text)})
			if err != nil {
				t.Fatal(err)
			}
			chunks := chunk.Split(doc.Text, chunk.Options{})
			for _, want := range c.want {
				of := slices.DeleteFunc(slices.Clone(chunks), func(k chunk.Chunk) bool { return strings.Join(k.Headings, ">") != want.path })
				if len(of) != 1 {
					t.Errorf("%s has %d chunks", want.path, len(of))
					continue
				}
				text := strings.TrimSpace(of[0].Content(doc.Text.Body))
				if !strings.HasPrefix(text, want.first) || !strings.Contains(text, want.last) {
					t.Errorf("%s is not from %q to %q:\n%s", want.path, want.first, want.last, text)
				}
				for _, other := range c.want {
					if other.path != want.path && strings.Contains(text, other.first) {
						t.Errorf("%s is in the chunk of %s:\n%s", other.path, want.path, text)
					}
				}
			}
			if t.Failed() {
				for _, k := range chunks {
					t.Logf("%q\n%s", k.Headings, k.Content(doc.Text.Body))
				}
			}
		})
	}
	for language := range grammars {
		if language != "tsx" && !covered[language] {
			t.Errorf("no file of %s", language)
		}
	}
}
