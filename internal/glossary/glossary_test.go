package glossary

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// sources returns what the sources of the checkout define, tests apart, and the folders of its Go
// files: those of module live/kube/rig too.
func sources(t *testing.T) (all []definition, folders []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		switch folder := filepath.ToSlash(filepath.Dir(name)); {
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" && folder != "internal" || name == "python"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		default:
			if !slices.Contains(folders, folder) {
				folders = append(folders, folder)
			}
			if strings.HasSuffix(name, "_test.go") {
				return nil
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			all = append(all, definitions(f, folder, filepath.ToSlash(name))...)
			return nil
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 5000 || len(folders) < 80 {
		t.Fatalf("found %d definitions in %d folders, want the whole checkout", len(all), len(folders))
	}
	return all, folders
}

// TestNames: nothing is named by a metaphor.
func TestNames(t *testing.T) {
	all, _ := sources(t)
	unneeded, err := checkNames(all, exemptions, pending)
	if err != nil {
		t.Error(err)
	}
	stale(t, unneeded)
}

// TestPackages: every package is in docs/glossary.md.
func TestPackages(t *testing.T) {
	_, folders := sources(t)
	packages := slices.DeleteFunc(folders, func(f string) bool { return strings.HasPrefix(f, "test/") || strings.HasPrefix(f, "tools") })
	text, err := os.ReadFile(filepath.Join(root, "docs", "glossary.md"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	gone, err := checkPackages(p, packages)
	if err != nil {
		t.Error(err)
	}
	stale(t, gone)
}

// stale reports lines that nothing needs: for now, while names are pending, in the log.
func stale(t *testing.T, lines []string) {
	t.Helper()
	for _, l := range lines {
		if len(pending) > 0 {
			t.Logf("warning: %s: nothing needs it", l)
		} else {
			t.Errorf("%s: nothing needs it, want none that is gone", l)
		}
	}
}

// TestExemptions: each has a reason and lets through a word that is a metaphor elsewhere.
func TestExemptions(t *testing.T) {
	for _, e := range exemptions {
		if e.why == "" || !slices.Contains(metaphors, e.word) {
			t.Errorf("%+v: want a reason, and one of metaphors", e)
		}
	}
	for _, r := range pending {
		if _, is := metaphor(r.name); !is {
			t.Errorf("pending %s: no metaphor", r.name)
		}
	}
}

// Each sort of definition that is named by a metaphor is seen, and what is no metaphor passes.
func TestCheckNames_sees(t *testing.T) {
	exempt := []exemption{{"kind", "api/...", "Kubernetes'"}, {"window", "sim", "of maintenance"}}
	for _, c := range []struct {
		name, folder, source string
		want                 string // part of the error; empty: none
	}{
		{"package", "live/larder", "package larder", "package larder"},
		{"type", "live", "package live\ntype desk struct{}", "type desk"},
		{"exported type", "live", "package live\ntype Outlook int", "type Outlook"},
		{"func", "live", "package live\nfunc hire() {}", "func hire"},
		{"method", "live", "package live\ntype T int\nfunc (T) Ring() {}", "method Ring"},
		{"method of an interface", "live", "package live\ntype T interface{ Ring() }", "method Ring"},
		{"field", "live", "package live\ntype T struct{ a, promise int }", "field promise"},
		{"field of an anonymous struct", "live", "package live\nvar v struct{ ward int }", "field ward"},
		{"within a func", "live", "package live\nfunc f() { type scene int }", "type scene"},
		{"compound", "live", "package live\nfunc tellAgents() {}", "func tellAgents"},
		{"compound at the end", "live", "package live\ntype nodeLarder int", "type nodeLarder"},
		{"two words in one", "live", "package live\nfunc takeIn() {}", "func takeIn"},
		{"part of a word", "live", "package live\nfunc string2Barrier() {}\ntype foundation int\ntype Scheduler int", ""},
		{"local variable", "live", "package live\nfunc f() { found := true; _ = found }", ""},
		{"parameter", "live", "package live\nfunc f(found bool) {}", ""},
		{"exempt", "api/v1", "package v1\ntype T struct{ Kind string }", ""},
		{"exempt elsewhere", "apis", "package apis\ntype T struct{ Kind string }", "field Kind"},
		{"exempt below", "sim/x", "package x\ntype Window int", "type Window"},
		{"pending", "live", "package live\ntype sight int", ""},
		{"pending there", "sim", "package sim\ntype course int", ""},
		{"pending elsewhere", "live", "package live\ntype course int", "type course"},
		{"pending alone", "live", "package live\ntype sightOf int", "type sightOf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := parser.ParseFile(token.NewFileSet(), "x.go", c.source, 0)
			if err != nil {
				t.Fatal(err)
			}
			_, err = checkNames(definitions(f, c.folder, "x.go"), exempt, []renaming{{"sight", anywhere}, {"course", "sim"}})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), "x.go: "+c.want+": named by") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Lines that nothing needs are returned.
func TestCheckNames_unneeded(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package v1\ntype Kind int\ntype desk int", 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := checkNames(definitions(f, "api", "x.go"), []exemption{{"kind", "api", "x"}, {"kind", "sim", "x"}}, []renaming{{"desk", anywhere}, {"sight", "sim"}})
	if want := []string{`exemption of "kind" in sim`, "pending sight in sim"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v (%v), want %v", got, err, want)
	}
}

// A package that is on no row is reported, with the row that it wants; so is a row whose package is gone.
func TestCheckPackages(t *testing.T) {
	const head = "| Term | Meaning | In the field | Package |\n| --- | --- | --- | --- |\n"
	const rows = head + "| Plan | An answer. | Nomad | `policy` |\n| sia | A policy. | Sia | `policy/sia`, `opt/mmkp` |\n"
	for _, c := range []struct {
		text, packages string
		gone           string
		want           string // part of the error; empty: none
	}{
		{rows, "policy policy/sia opt/mmkp", "", ""},
		{rows, "policy policy/sia opt/mmkp live/sia", "", ""}, // plainly a term
		{rows, "policy policy/sia opt/mmkp live/local", "", "package live/local: not in docs/glossary.md, want a row: | local | … | … | `live/local` |"},
		{rows, "policy policy/sia", "docs/glossary.md: `opt/mmkp`: no such package", ""},
		{head + "| Plan | An answer. | `policy` |\n", "", "", "want a term"},
		{head + "| Plan |  | Nomad | `policy` |\n", "", "", "want a term"},
		{rows + "| SIA | Again. | Sia | `policy/sia` |\n", "", "", "second row"},
	} {
		p, err := read([]byte(c.text))
		var gone []string
		if err == nil {
			gone, err = checkPackages(p, strings.Fields(c.packages))
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.packages, err, c.want)
		}
		if err == nil && strings.Join(gone, " ") != c.gone {
			t.Errorf("%q: got %v gone, want %q", c.packages, gone, c.gone)
		}
	}
}
