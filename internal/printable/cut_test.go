package printable_test

import (
	"testing"

	"github.com/oxgang/oxgang/internal/printable"
)

// Lines of the width stay, longer ones end with an ellipsis, and newlines stay.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"abcd\nabcde\n", 4, "abcd\nabc…\n"},
		{"ünïcöde", 7, "ünïcöde"},
		{"ünïcödes", 7, "ünïcöd…"},
		{"abcdef\n", 0, "abcdef\n"},
		{"", 3, ""},
	} {
		if got := printable.Cut(c.text, c.width); got != c.want {
			t.Errorf("Cut(%q, %d): %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
