package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const drawnFrom = `package x

import "fmt"

const limit = 7

type t [3]int

func f(a, b int) {
	a += 2
	if a < b && b > 0 {
		fmt.Println(a - b)
	}
	c := 1
	_ = c
}

func g() (int, error) {
	if err := h(); err != nil {
		return 8, err
	}
	return 9, nil
}
`

// Each kind of bug is found where it is, and changes only that.
func TestSites(t *testing.T) {
	all, err := sitesOf("x.go", []byte(drawnFrom))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, s.String())
		bad := drawnFrom[:s.from] + s.text + drawnFrom[s.to:]
		if bad == drawnFrom || !strings.HasPrefix(bad, "package x") {
			t.Errorf("%s: changes nothing, or the wrong place", &s)
		}
	}
	slices.Sort(got)
	want := []string{
		"x.go:10: 2 becomes 3", "x.go:10: dropped: a += 2", "x.go:11: && becomes ||", "x.go:11: 0 becomes 1", "x.go:11: < becomes <=",
		"x.go:11: > becomes >=", "x.go:11: condition negated", "x.go:11: f returns after its first statement", "x.go:12: - becomes +",
		"x.go:12: dropped: fmt.Println(a - b)", "x.go:14: 1 becomes 2", "x.go:15: dropped: _ = c", "x.go:19: != becomes ==",
		"x.go:19: condition negated", "x.go:22: 9 becomes 10",
	}
	if !slices.Equal(got, want) {
		t.Errorf("sites\n%q\nwant\n%q", got, want)
	}
}

// The package of a trial: a test reaches and checks only the first function, and a label is in the second.
const (
	tried = `package x

func half(n int) int {
	if n > 1 {
		n = n / 2
	}
	return n
}

func twice(n int) (m int) {
again:
	for range 2 {
		m += n
		if m > 9 {
			break again
		}
	}
	return m
}
`
	tryingTest = `package x

import "testing"

func TestHalf(t *testing.T) {
	if half(4) != 2 || half(1) != 1 {
		t.Error("wrong")
	}
}

func TestNothing(t *testing.T) { twice(1) }

func TestBroken(t *testing.T) { half(3); t.Error("fails without a bug") }
`
)

// Of a toy package, the bugs are caught that its test notices, and bugs that do not compile are left out.
func TestTryBugs(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	root := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module " + module + "\n\ngo 1.26\n", "x/x.go": tried, "x/x_test.go": tryingTest} {
		path := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	all, err := sites(root, "x")
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(tried, "n = n / 2")
	all = append(all, site{file: "x/x.go", line: 5, from: at, to: at + 1, text: "unknown", kind: "does not compile"})
	got, err := tryBugs(root, "x", all, len(all))
	if want := (score{4, 10}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// Each equivalent bug is a place in the code, and has a reason.
func TestEquivalent(t *testing.T) {
	same, err := parseSame(equivalents)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, dir := range mutated {
		all, err := sites(filepath.Join("..", ".."), dir)
		if err != nil {
			t.Fatal(err)
		}
		for i := range all {
			found[all[i].key()] = true
		}
	}
	for key := range same {
		if !found[key] {
			t.Errorf("equivalent.txt: no such bug: %s", key)
		}
	}
	for _, wrong := range []string{"\treason", "a\nb", "a\n\tb\n\tc"} {
		if _, err := parseSame(wrong); err == nil {
			t.Errorf("%q: no error", wrong)
		}
	}
}

// Every package in which bugs are drawn exists, has many places for them, and has tests.
func TestSites_of_packages(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, dir := range mutated {
		if all, err := sites(root, dir); err != nil || len(all) < 20 {
			t.Errorf("%s: %d places, %v; want many", dir, len(all), err)
		}
		if tests, err := filepath.Glob(filepath.Join(root, dir, "*_test.go")); err != nil || len(tests) == 0 {
			t.Errorf("%s: no tests, %v", dir, err)
		}
	}
}
