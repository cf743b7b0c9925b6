package extract

import (
	"strings"
	"unsafe"

	bash "github.com/tree-sitter/tree-sitter-bash/bindings/go"
	csharp "github.com/tree-sitter/tree-sitter-c-sharp/bindings/go"
	c "github.com/tree-sitter/tree-sitter-c/bindings/go"
	cpp "github.com/tree-sitter/tree-sitter-cpp/bindings/go"
	golang "github.com/tree-sitter/tree-sitter-go/bindings/go"
	java "github.com/tree-sitter/tree-sitter-java/bindings/go"
	javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	php "github.com/tree-sitter/tree-sitter-php/bindings/go"
	python "github.com/tree-sitter/tree-sitter-python/bindings/go"
	ruby "github.com/tree-sitter/tree-sitter-ruby/bindings/go"
	rust "github.com/tree-sitter/tree-sitter-rust/bindings/go"
	typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"
)

// role is what a node of a syntax tree counts as.
type role uint8

const (
	roleNone    role = iota
	roleWhole        // a definition that is not looked into: a function, a plain type
	roleHolder       // a definition that may hold others: a class, a module
	roleThrough      // looked into without being one: a class's body
	roleWrap         // as that, and what is defined in it begins where it begins: an export, a decorator
	roleLead         // belongs to the definition after it: a comment, an attribute
)

// grammar is a language that is parsed.
type grammar struct {
	language func() unsafe.Pointer
	roles    map[string]role // by node kind
}

// parsed makes a grammar; the lists are of node kinds separated by spaces.
func parsed(language func() unsafe.Pointer, whole, holder, through, wrap, lead string) grammar {
	g := grammar{language: language, roles: map[string]role{"ERROR": roleThrough}}
	for r, list := range map[role]string{roleWhole: whole, roleHolder: holder, roleThrough: through, roleWrap: wrap, roleLead: lead} {
		for kind := range strings.FieldsSeq(list) {
			g.roles[kind] = r
		}
	}
	return g
}

const (
	wholeC    = "function_definition preproc_function_def type_definition declaration enum_specifier"
	throughC  = "translation_unit preproc_if preproc_ifdef preproc_else preproc_elif linkage_specification declaration_list"
	holderCpp = "class_specifier struct_specifier union_specifier namespace_definition"
	wholeJS   = "function_declaration generator_function_declaration method_definition lexical_declaration variable_declaration assignment_expression"
	throughJS = "program class_body statement_block"
	wrapJS    = "export_statement expression_statement ambient_declaration"
	wholeTS   = wholeJS + " enum_declaration type_alias_declaration function_signature abstract_method_signature"
	holderTS  = "class_declaration abstract_class_declaration interface_declaration internal_module module"
)

// grammars are the languages that are parsed, by the name that the table of
// formats gives them; TSX has a grammar of its own.
var grammars = map[string]grammar{
	"bash": parsed(bash.Language, "function_definition", "", "program if_statement else_clause", "", "comment"),
	"c":    parsed(c.Language, wholeC+" struct_specifier union_specifier", "", throughC, "", "comment"),
	"c-sharp": parsed(csharp.Language,
		"method_declaration constructor_declaration destructor_declaration operator_declaration conversion_operator_declaration "+
			"property_declaration indexer_declaration enum_declaration delegate_declaration local_function_statement",
		"class_declaration struct_declaration record_declaration interface_declaration namespace_declaration",
		"compilation_unit declaration_list preproc_if preproc_else", "global_statement", "comment"),
	"cpp": parsed(cpp.Language, wholeC, holderCpp, throughC+" field_declaration_list", "template_declaration", "comment"),
	"go":  parsed(golang.Language, "function_declaration method_declaration type_spec type_alias", "", "source_file", "type_declaration", "comment"),
	"java": parsed(java.Language, "method_declaration constructor_declaration compact_constructor_declaration annotation_type_declaration",
		"class_declaration interface_declaration enum_declaration record_declaration",
		"program class_body interface_body enum_body enum_body_declarations", "", "line_comment block_comment"),
	"javascript": parsed(javascript.Language, wholeJS, "class_declaration", throughJS, wrapJS, "comment decorator"),
	"php": parsed(php.LanguagePHP, "function_definition method_declaration",
		"class_declaration interface_declaration trait_declaration enum_declaration namespace_definition",
		"program declaration_list enum_declaration_list compound_statement if_statement", "", "comment"),
	"python": parsed(python.Language, "function_definition", "class_definition",
		"module block if_statement else_clause elif_clause try_statement except_clause", "decorated_definition", "comment"),
	"ruby": parsed(ruby.Language, "method singleton_method", "class module", "program body_statement singleton_class", "", "comment"),
	"rust": parsed(rust.Language, "function_item struct_item enum_item union_item macro_definition", "impl_item trait_item mod_item",
		"source_file declaration_list foreign_mod_item", "", "line_comment block_comment attribute_item inner_attribute_item"),
	"typescript": parsed(typescript.LanguageTypescript, wholeTS, holderTS, throughJS+" interface_body", wrapJS, "comment decorator"),
	"tsx":        parsed(typescript.LanguageTSX, wholeTS, holderTS, throughJS+" interface_body", wrapJS, "comment decorator"),
}
