package extract

// codeGroups are the programming languages by extension and file name. Those
// with a grammar are parsed, in the worker; its failure costs them their
// structure only, so they are read in the daemon where there is none.
func codeGroups() []formatGroup {
	var groups []formatGroup
	for _, l := range []struct{ language, extensions, names string }{
		{"ada", "adb ads", ""},
		{"assembly", "asm s nasm", ""},
		{"awk", "awk", ""},
		{"bash", "sh bash zsh ksh fish bats ebuild", ".bashrc .bash_profile .bash_aliases .profile .zshrc .zprofile .zshenv pkgbuild"},
		{"bazel", "bzl bazel star", "build workspace"},
		{"batch", "bat cmd", ""},
		{"c", "c h", ""},
		{"c-sharp", "cs csx", ""},
		{"clojure", "clj cljs cljc edn", ""},
		{"cmake", "cmake", "cmakelists.txt"},
		{"cobol", "cob cbl cobol", ""},
		{"coffeescript", "coffee", ""},
		{"cpp", "cc cpp cxx c++ hpp hh hxx h++ ipp tpp inl ino", ""},
		{"crystal", "cr", ""},
		{"css", "css scss sass less styl", ""},
		{"cuda", "cu cuh", ""},
		{"d", "d di", ""},
		{"dart", "dart", ""},
		{"diff", "diff patch", ""},
		{"dockerfile", "dockerfile containerfile", "dockerfile containerfile"},
		{"elixir", "ex exs eex heex leex", ""},
		{"elm", "elm", ""},
		{"erlang", "erl hrl", "rebar.config"},
		{"fortran", "f f77 f90 f95 f03 f08 for", ""},
		{"fsharp", "fs fsi fsx", ""},
		{"gdscript", "gd", ""},
		{"glsl", "glsl vert frag geom comp hlsl wgsl metal", ""},
		{"go", "go", ""},
		{"go.mod", "mod work", "go.mod go.sum go.work"},
		{"graphql", "graphql gql graphqls", ""},
		{"groovy", "groovy gradle gvy", "jenkinsfile"},
		{"haskell", "hs lhs cabal", ""},
		{"hcl", "tf tfvars hcl nomad", ""},
		{"idl", "idl thrift avdl capnp fbs", ""},
		{"ignore", "gitignore dockerignore gitattributes gitmodules ignore", ".gitignore .dockerignore .gitattributes .gitmodules .npmignore .ignore"},
		{"java", "java jsp", ""},
		{"javascript", "js mjs cjs jsx es6 gs", ""},
		{"julia", "jl", ""},
		{"just", "just", "justfile"},
		{"kotlin", "kt kts", ""},
		{"lisp", "lisp lsp cl el", ".emacs"},
		{"lua", "lua luau", ""},
		{"make", "mk mak make am", "makefile gnumakefile"},
		{"matlab", "m mlx octave", ""},
		{"meson", "", "meson.build meson_options.txt"},
		{"nim", "nim nims nimble", ""},
		{"nix", "nix", ""},
		{"objective-c", "mm", ""},
		{"ocaml", "ml mli mll mly", ""},
		{"pascal", "pas pp dpr lpr dfm", ""},
		{"perl", "pl pm pod t", ""},
		{"php", "php php3 php4 php5 phtml", ""},
		{"powershell", "ps1 psm1 psd1", ""},
		{"prolog", "pro prolog", ""},
		{"protobuf", "proto textproto pbtxt", ""},
		{"puppet", "puppet epp", ""},
		{"python", "py pyi pyw pyx pxd", "wscript sconstruct sconscript"},
		{"r", "r", ".rprofile"},
		{"racket", "rkt", ""},
		{"raku", "raku rakumod p6", ""},
		{"rego", "rego", ""},
		{"ruby", "rb erb rake gemspec ru podspec", "rakefile gemfile guardfile vagrantfile podfile fastfile brewfile"},
		{"rust", "rs", ""},
		{"scala", "scala sc sbt", ""},
		{"scheme", "scm ss sld", ""},
		{"smali", "smali", ""},
		{"solidity", "sol", ""},
		{"sql", "sql ddl dml psql plsql pks pkb", ""},
		{"starlark", "", "tiltfile"},
		{"svelte", "svelte", ""},
		{"swift", "swift", ""},
		{"systemverilog", "v sv svh vh", ""},
		{"tcl", "tcl tk", ""},
		{"template", "j2 jinja jinja2 tmpl tpl mustache hbs ejs liquid pug haml njk", ""},
		{"typescript", "ts tsx mts cts", ""},
		{"vb", "vb vbs bas frm", ""},
		{"vhdl", "vhd vhdl", ""},
		{"vim", "vim", ".vimrc .gvimrc"},
		{"vue", "vue astro", ""},
		{"zig", "zig zon", ""},
	} {
		g := formatGroup{
			format: Format{Name: "code", Version: 1}, read: readCode,
			language: l.language, extensions: l.extensions, names: l.names,
		}
		if _, ok := grammars[l.language]; ok {
			g.format = Format{Name: "code", Version: 2, Worker: true}
			g.safe, g.size = true, codeSourceMax
			if l.language == "python" || l.language == "ruby" {
				g.format.Version = 3 // comments at the top of a class
			}
		}
		groups = append(groups, g)
	}
	return groups
}
