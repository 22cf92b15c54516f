package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each mutant of the list is of code that is still there, and changes it.
func TestList_applies(t *testing.T) {
	all, err := parse(list)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for i := range all {
		m := &all[i]
		source, err := os.ReadFile(filepath.Join("..", "..", m.file))
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := m.apply(string(source)); err != nil {
			t.Error(err)
		}
		if names[m.name] {
			t.Errorf("%s: twice", m.name)
		}
		names[m.name] = true
		if !m.runsATest(t) {
			t.Errorf("%s: %q runs no test", m.name, m.test)
		}
	}
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

func (m *mutant) runsATest(t *testing.T) bool {
	run := regexp.MustCompile("")
	if i := slices.Index(m.test, "-run"); i >= 0 {
		whole, _, _ := strings.Cut(strings.Trim(m.test[i+1], "'"), "/")
		run = regexp.MustCompile(whole)
	}
	for _, arg := range m.test {
		if !strings.HasPrefix(arg, "./") {
			continue
		}
		files, err := filepath.Glob(filepath.Join("..", "..", arg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range testFunction.FindAllSubmatch(source, -1) {
				if run.Match(found[1]) {
					return true
				}
			}
		}
	}
	return false
}

func TestVerdict(t *testing.T) {
	for output, want := range map[string]string{
		"--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b\nFAIL\n": "TestA", "ok  \tx\t0.1s\n": "", "panic: x\nFAIL\tx\n": "a test that did not end",
	} {
		if got, err := verdict(output); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", output, got, err, want)
		}
	}
	if _, err := verdict("FAIL\tx [build failed]\n"); err == nil {
		t.Error("a mutant that does not compile: want an error")
	}
	for _, bad := range []string{"file x", "mutant a\nnonsense b", "mutant a\nold"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q: want an error", bad)
		}
	}
	if _, err := (&mutant{old: "a", new: "b", test: []string{"x"}}).apply("aa"); err == nil {
		t.Error("a text that is there twice: want an error")
	}
}
