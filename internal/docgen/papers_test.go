package main

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const source = `// Package room is a room. Source: Sia §3.
package room

// F computes. It cannot fail. Source: Sia §3.3.4,
// Eq. 3.3. More words here.
//
// Deviation: it clamps the factor at 0 | 1, because
// the paper divides by zero.
func F() {
	// Source: BOA App. E, step 2.
	_ = 1
}

// Step steps. Sources: Pollux §3.2; Sia §3.3.10.
func (m *Model[T]) Step() {}

// A Model is one.
type Model[T any] struct {
	Power float64 // p. Source: Sia §3.4.
	// Cost is a cost. Source: Sia §3.3.9.
	Cost float64
}

// Limits. Source: Sia table 3.1.
const (
	Low  = 1
	High = 2 // Source: Lyra §4.
)

// Rules:
//
//   - Deviation: one thing, because of this
//     and that.
//   - Deviation: another, because.
type Rules interface {
	// Do does what it has to do. Source:
	// Gavel §4.1.
	Do()
}
`

func TestPapers(t *testing.T) {
	tree := fstest.MapFS{
		"a/room/room.go":         {Data: []byte(source)},
		"a/room/testdata/bad.go": {Data: []byte("not go. Source: Themis §1.")},
		"internal/tools/go.mod":  {Data: []byte("module tools")},
		"tools/tools.go":         {Data: []byte("package tools // Source: Themis §2.")},
		".git/x.go":              {Data: []byte("package x // Source: Themis §3.")},
		"a/room/note.txt":        {Data: []byte("Source: Themis §4.")},
	}
	text, err := papers(tree)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "`a/room") {
			rows = append(rows, strings.TrimSuffix(line, " | [a/room/room.go](../a/room/room.go) |\n"))
		}
	}
	want := []string{
		"| BOA | App. E, step 2 | `a/room.F`",
		"| Gavel | §4.1 | `a/room.Rules.Do`",
		"| Lyra | §4 | `a/room.High`",
		"| Pollux | §3.2 | `a/room.Model.Step`",
		"| Sia | table 3.1 | `a/room.Low`",
		"| Sia | §3 | `a/room`",
		"| Sia | §3.3.4, Eq. 3.3 | `a/room.F`",
		"| Sia | §3.3.9 | `a/room.Model.Cost`",
		"| Sia | §3.3.10 | `a/room.Model.Step`",
		"| Sia | §3.4 | `a/room.Model.Power`",
		"| `a/room.F` | it clamps the factor at 0 \\| 1, because the paper divides by zero",
		"| `a/room.Rules` | one thing, because of this and that",
		"| `a/room.Rules` | another, because",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("got rows\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
}

func TestCitation(t *testing.T) {
	tests := []struct{ text, paper, place string }{
		{"Sia §2.1, Eq. 2.3", "Sia", "§2.1, Eq. 2.3"},
		{"Sia, Eq. 2.3", "Sia", "Eq. 2.3"},
		{"Chan, Golub and Mulet, \"A method\", §3", "Chan, Golub and Mulet, \"A method\"", "§3"},
		{"Sia simulator, pollux.py", "Sia simulator", "pollux.py"},
		{"Appleton 1998", "Appleton 1998", ""},
	}
	for _, tc := range tests {
		if paper, place := citation(tc.text); paper != tc.paper || place != tc.place {
			t.Errorf("citation of %q: got %q and %q, want %q and %q", tc.text, paper, place, tc.paper, tc.place)
		}
	}
}

// TestDeviationNeedsBecause: a departure without a reason is refused.
func TestDeviationNeedsBecause(t *testing.T) {
	tree := fstest.MapFS{"room/room.go": {Data: []byte("package room\n\n// F is. Deviation: it rounds up.\nfunc F() {}\n")}}
	_, err := papers(tree)
	if err == nil || !strings.Contains(err.Error(), "deviation of room.F") {
		t.Errorf("got error %v, want one about room.F", err)
	}
}
