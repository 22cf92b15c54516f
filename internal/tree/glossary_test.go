package tree

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// metaphors are words that no package, type, function, method or field is named by, alone or in a compound:
// every reader would have to translate them. docs/glossary.md has the field's words.
var metaphors = []string{
	"lead", "inbox", "keeper", "desk", "sight", "found", "reading", "takein", "stand", "hire", "fleet", "larder",
	"outlook", "lookout", "course", "fate", "yielder", "standing", "teller", "scene", "twin", "central", "embedding", "union",
	"timetable", "shares", "hair", "entrant", "enrol", "hush", "ring", "tell", "ward", "pledge", "promise", "doubt",
	"tower", "cellar", "wing", "guest",
}

// TestNames: nothing in the module is named by a metaphor.
func TestNames(t *testing.T) {
	n := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name := d.Name(); name == "testdata" && path != "../../internal/testdata" || name == "python" || strings.HasPrefix(name, ".") && name != ".." {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		names := defined(f)
		n += len(names)
		for _, name := range names {
			if word := metaphor(name); word != "" {
				t.Errorf("%s: %s is named by %q, want a word of the field: see docs/glossary.md", path, name, word)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 5000 {
		t.Fatalf("found %d names, want those of the whole module", n)
	}
}

func defined(f *ast.File) []string {
	all := []string{f.Name.Name}
	fields := func(l *ast.FieldList) {
		for _, field := range l.List {
			for _, id := range field.Names {
				all = append(all, id.Name)
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			all = append(all, n.Name.Name)
		case *ast.TypeSpec:
			all = append(all, n.Name.Name)
		case *ast.StructType:
			fields(n.Fields)
		case *ast.InterfaceType:
			fields(n.Methods)
		}
		return true
	})
	return all
}

// parts are the words of a name in mixed case.
var parts = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

// metaphor returns the first word of a name that is in metaphors; empty if there is none.
func metaphor(name string) string {
	for _, word := range append([]string{name}, parts.FindAllString(name, -1)...) {
		if word = strings.ToLower(word); slices.Contains(metaphors, word) {
			return word
		}
	}
	return ""
}

// Every sort of definition is looked at, and only whole words count.
func TestDefined(t *testing.T) {
	const source = `package larder
type desk struct{ a, promise int; inner struct{ ward int } }
type T interface{ Ring() }
func takeIn() { type scene int; found := true; _ = found }
func (T2) tellAgents() {}
type string2Barrier int
type foundation int`
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := slices.DeleteFunc(defined(f), func(name string) bool { return metaphor(name) == "" })
	slices.Sort(names)
	if want := []string{"Ring", "desk", "larder", "promise", "scene", "takeIn", "tellAgents", "ward"}; !slices.Equal(names, want) {
		t.Errorf("named by metaphors: %v, want %v", names, want)
	}
}
