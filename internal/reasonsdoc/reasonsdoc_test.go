package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/internal/testdata"
)

// TestPageIsCurrent: the table is what the code makes it.
func TestPageIsCurrent(t *testing.T) {
	got, err := os.ReadFile(filepath.Join(testdata.Root(t), page))
	if err != nil {
		t.Fatal(err)
	}
	want, err := generate(string(got))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what go generate ./internal/reasonsdoc writes", page)
	}
}

// A page without a place for the table is not overwritten.
func TestGenerate_without_a_place(t *testing.T) {
	for _, bad := range []string{"", begin, end, strings.TrimSpace(begin) + end} {
		if _, err := generate(bad); err == nil {
			t.Errorf("%q: want an error", bad)
		}
	}
}
