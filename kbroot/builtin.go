package kbroot

import "strings"

// exclude is one built-in exclude: a pattern over one path element, at any
// depth, for files and folders alike.
type exclude struct {
	pattern string // "*" stands at the front, at the end, or both
	why     string
	exact   bool // compare case; without it ASCII case is folded
}

const (
	whyVCS     = "version control data"
	whyTool    = "a tool's cache or installed packages"
	whySystem  = "a file of the operating system or a sync tool"
	whyEditor  = "an editor's swap, lock or backup file"
	whyPartial = "an unfinished download or copy"
	whySecret  = "it may hold a secret"
	whyOwn     = "the daemon's own data"
)

// builtinExcludes is every built-in exclude. The configuration can add
// patterns (Options.Exclude) but takes none of these away.
var builtinExcludes = [...]exclude{
	{".git", whyVCS, false}, {".hg", whyVCS, false}, {".svn", whyVCS, false}, {".bzr", whyVCS, false},
	{"CVS", whyVCS, true}, {"_darcs", whyVCS, false}, {".jj", whyVCS, false}, {".pijul", whyVCS, false},

	{"node_modules", whyTool, false}, {"bower_components", whyTool, false}, {"__pycache__", whyTool, false},
	{"*.pyc", whyTool, false}, {".venv", whyTool, false}, {".tox", whyTool, false}, {".nox", whyTool, false},
	{".mypy_cache", whyTool, false}, {".pytest_cache", whyTool, false}, {".ruff_cache", whyTool, false},
	{".ipynb_checkpoints", whyTool, false}, {".gradle", whyTool, false}, {".terraform", whyTool, false},
	{".direnv", whyTool, false}, {".cache", whyTool, false}, {".idea", whyTool, false}, {".vs", whyTool, false},
	{".yarn", whyTool, false}, {".pnpm-store", whyTool, false}, {".npm", whyTool, false}, {".cargo", whyTool, false},
	{".eggs", whyTool, false}, {".sass-cache", whyTool, false}, {".parcel-cache", whyTool, false}, {".next", whyTool, false},

	{".DS_Store", whySystem, false}, {"Thumbs.db", whySystem, false}, {"ehthumbs.db", whySystem, false},
	{"desktop.ini", whySystem, false}, {"._*", whySystem, false}, {".AppleDouble", whySystem, false},
	{".Spotlight-V100", whySystem, false}, {".fseventsd", whySystem, false}, {".TemporaryItems", whySystem, false},
	{".DocumentRevisions-V100", whySystem, false}, {".Trashes", whySystem, false}, {".Trash", whySystem, false},
	{".Trash-*", whySystem, false}, {"$RECYCLE.BIN", whySystem, false}, {"System Volume Information", whySystem, false},
	{"lost+found", whySystem, true}, {"@eaDir", whySystem, false}, {".fuse_hidden*", whySystem, false},
	{".nfs0*", whySystem, false}, {".stversions", whySystem, false}, {".stfolder", whySystem, false},
	{".dropbox.cache", whySystem, false}, {"Icon\r", whySystem, true},

	{"*~", whyEditor, false}, {".#*", whyEditor, false}, {"#*#", whyEditor, false}, {"*.swp", whyEditor, false},
	{"*.swo", whyEditor, false}, {"*.swn", whyEditor, false}, {"*.swx", whyEditor, false}, {"4913", whyEditor, true},
	{".~lock.*#", whyEditor, false}, {"~$*", whyEditor, false}, {"~WRL*", whyEditor, false}, {"*.tmp", whyEditor, false},
	{"*.bak", whyEditor, false}, {"*.kate-swp", whyEditor, false}, {".goutputstream-*", whyEditor, false},
	{"*___jb_tmp___", whyEditor, false}, {"*___jb_old___", whyEditor, false}, {".saves-*", whyEditor, false},

	{"*.crdownload", whyPartial, false}, {"*.part", whyPartial, false}, {"*.partial", whyPartial, false},
	{"*.download", whyPartial, false}, {"*.opdownload", whyPartial, false}, {"*.filepart", whyPartial, false},
	{"*.aria2", whyPartial, false}, {"*.!ut", whyPartial, false}, {"*.!qb", whyPartial, false},
	{".~tmp~", whyPartial, false}, {".rsync-partial", whyPartial, false},

	{".env", whySecret, false}, {".env.*", whySecret, false}, {"*.pem", whySecret, false}, {"*.key", whySecret, false},
	{"id_rsa*", whySecret, false}, {"id_dsa*", whySecret, false}, {"id_ecdsa*", whySecret, false},
	{"id_ed25519*", whySecret, false}, {"*.p12", whySecret, false}, {"*.pfx", whySecret, false}, {"*.jks", whySecret, false},
	{"*.keystore", whySecret, false}, {"*.kdbx", whySecret, false}, {"*.kdb", whySecret, false}, {"*.ppk", whySecret, false},
	{".netrc", whySecret, false}, {"_netrc", whySecret, false}, {".pgpass", whySecret, false}, {".htpasswd", whySecret, false},
	{".npmrc", whySecret, false}, {".pypirc", whySecret, false}, {".git-credentials", whySecret, false},
	{".dockercfg", whySecret, false}, {".vault-token", whySecret, false}, {".ssh", whySecret, false},
	{".gnupg", whySecret, false}, {".aws", whySecret, false}, {".azure", whySecret, false}, {".kube", whySecret, false},
	{".docker", whySecret, false}, {".password-store", whySecret, false}, {".bash_history", whySecret, false},
	{".zsh_history", whySecret, false}, {".python_history", whySecret, false}, {".psql_history", whySecret, false},

	{tempPrefix + "*", whyOwn, false},
}

// builtinAllowed are names a pattern above would take, kept because they hold
// examples only.
var builtinAllowed = map[string]bool{
	".env.example": true, ".env.sample": true, ".env.template": true, ".env.dist": true,
}

// BuiltinExcluded reports whether a path element is left out by a built-in
// exclude whatever the configuration says, and which pattern says so.
func BuiltinExcluded(name string) (pattern string, excluded bool) {
	if e := builtins.find(name); e != nil {
		return e.pattern, true
	}
	return "", false
}

// builtins is builtinExcludes arranged for lookup; written once, at init.
var builtins = arrange(builtinExcludes[:])

type builtinIndex struct {
	whole  map[string]*exclude
	prefix map[byte][]*exclude // by first byte of the pattern
	suffix map[byte][]*exclude // by last byte of the pattern
}

func arrange(list []exclude) *builtinIndex {
	x := &builtinIndex{map[string]*exclude{}, map[byte][]*exclude{}, map[byte][]*exclude{}}
	for i := range list {
		e := &list[i]
		p := e.pattern
		switch {
		case !strings.Contains(p, "*"):
			if !e.exact {
				p = lowerASCII(p)
			}
			x.whole[p] = e
		case p[0] == '*':
			c := lowerByte(p[len(p)-1])
			x.suffix[c] = append(x.suffix[c], e)
		default: // "a*" and "a*b" both go by their first byte
			c := lowerByte(p[0])
			x.prefix[c] = append(x.prefix[c], e)
		}
	}
	return x
}

func (x *builtinIndex) find(name string) *exclude {
	if name == "" {
		return nil
	}
	low := lowerASCII(name)
	if builtinAllowed[low] {
		return nil
	}
	if e := x.whole[name]; e != nil && e.exact {
		return e
	}
	if e := x.whole[low]; e != nil && !e.exact {
		return e
	}
	for _, e := range x.suffix[low[len(low)-1]] {
		if starMatch(lowerASCII(e.pattern), low) {
			return e
		}
	}
	for _, e := range x.prefix[low[0]] {
		if starMatch(lowerASCII(e.pattern), low) {
			return e
		}
	}
	return nil
}

// starMatch matches a pattern that holds exactly one "*".
func starMatch(pattern, name string) bool {
	head, tail, _ := strings.Cut(pattern, "*")
	return len(name) >= len(head)+len(tail) && strings.HasPrefix(name, head) && strings.HasSuffix(name, tail)
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func lowerASCII(s string) string {
	for i := 0; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for j := i; j < len(b); j++ {
				b[j] = lowerByte(b[j])
			}
			return string(b)
		}
	}
	return s
}
