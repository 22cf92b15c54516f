package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// house is a small module: c imports b, b imports a; the tests of t import a; d stands alone.
var house = []pkg{
	{ImportPath: "m/a", Dir: "a"},
	{ImportPath: "m/b", Dir: "b", Imports: []string{"fmt", "m/a"}},
	{ImportPath: "m/b/deep", Dir: "b/deep"},
	{ImportPath: "m/c", Dir: "c", Imports: []string{"m/b"}},
	{ImportPath: "m/d", Dir: "d", TestImports: []string{"m/internal/doctable"}},
	{ImportPath: "m/internal/doctable", Dir: "internal/doctable"},
	{ImportPath: "m/t", Dir: "t", XTestImports: []string{"m/a"}},
	{ImportPath: "m/u", Dir: "u", Imports: []string{"m/t"}},
}

// Of each list of files these packages are tested, and no others.
func TestNearest(t *testing.T) {
	everything := "m/a 0, m/b 0, m/b/deep 0, m/c 0, m/d 0, m/internal/doctable 0, m/t 0, m/u 0"
	for _, c := range []struct{ files, want string }{
		{"", ""},
		{"a/a.go", "m/a 0, m/b 1, m/t 1, m/c 2"}, // not m/u: a test of m/t is no part of it
		{"a/a_test.go", "m/a 0, m/b 1, m/t 1, m/c 2"},
		{"b/b.go", "m/b 0, m/c 1"},
		{"b/b.go a/a.go", "m/a 0, m/b 0, m/c 1, m/t 1"},
		{"b/deep/testdata/script/x.txt", "m/b/deep 0"},
		{"b/testdata/x.txt", "m/b 0, m/c 1"},
		{"gone/gone.go", ""},
		{"t/t.go", "m/t 0, m/u 1"},
		{"docs/policies.md", "m/internal/doctable 0, m/d 1"},
		{"README.md", "m/internal/doctable 0, m/d 1"},
		{"go.mod", everything},
		{"go.sum a/a.go", everything},
		{"live/kube/rig/rig.go", ""},
		{"internal/tools/go.mod", ""},
		{"Makefile", ""},
		{"python/oxgang/loader.py", ""},
	} {
		var got []string
		for _, r := range nearest(house, strings.Fields(c.files)) {
			got = append(got, fmt.Sprint(r.name, " ", r.distance))
		}
		want := strings.ReplaceAll(c.want, "m/internal/doctable 0, m/d 1", "m/d 0, m/internal/doctable 0")
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: got %v, want %s", c.files, got, want)
		}
	}
}

// In this module a change of cluster reaches the programs, and one of a program only itself.
func TestRun(t *testing.T) {
	t.Chdir("../..")
	ask := func(files string, within int) []string {
		var b strings.Builder
		if err := run(strings.NewReader(files), &b, within); err != nil {
			t.Fatal(err)
		}
		return strings.Fields(b.String())
	}
	const module = "github.com/oxgang/oxgang/"
	all := ask("cluster/cluster.go\n", -1)
	if len(all) < 50 || all[0] != module+"cluster" || !slices.Contains(all, module+"cmd/oxgang") {
		t.Errorf("of cluster got %v", all)
	}
	if got := ask("cluster/cluster.go\n", 0); !slices.Equal(got, []string{module + "cluster"}) {
		t.Errorf("nearest to cluster got %v", got)
	}
	if near := ask("cluster/cluster.go\n", 1); len(near) < 5 || len(near) >= len(all) || !slices.Equal(near, all[:len(near)]) {
		t.Errorf("near cluster got %v, want the first of %v", near, all)
	}
	if got := ask("cmd/oxgang/main.go\n\n", -1); !slices.Equal(got, []string{module + "cmd/oxgang"}) {
		t.Errorf("of the program got %v", got)
	}
	if got := ask("", -1); len(got) > 0 {
		t.Errorf("of nothing got %v", got)
	}
}
