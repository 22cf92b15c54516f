package printable_test

import (
	"testing"

	"github.com/oxgang/oxgang/internal/printable"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ in, line, text, cell string }{
		{"plain, in \u00fc and \u4e2d", "plain, in \u00fc and \u4e2d", "plain, in \u00fc and \u4e2d", "plain, in \u00fc and \u4e2d"},
		{"two\nlines\tand", `two\nlines\u0009and`, "two\nlines\tand", "two\nlines\tand"},
		{"\x1b[2J\x07\r", `\u001b[2J\u0007\u000d`, `\u001b[2J\u0007\u000d`, "\x1b[2J\x07\r"},
		{"\u009b2J \u202egnp \u2028", `\u009b2J \u202egnp \u2028`, `\u009b2J \u202egnp \u2028`, "\u009b2J \u202egnp \u2028"},
		{"\U000e0041", `\udb40\udc41`, `\udb40\udc41`, "\U000e0041"},
		{"=1+1", "=1+1", "=1+1", "'=1+1"},
		{"+1", "+1", "+1", "'+1"},
		{"-x", "-x", "-x", "'-x"},
		{"@SUM(A1)", "@SUM(A1)", "@SUM(A1)", "'@SUM(A1)"},
		{"", "", "", ""},
	} {
		if got := printable.Line(c.in); got != c.line {
			t.Errorf("Line(%q): %q, want %q", c.in, got, c.line)
		}
		if got := printable.Text(c.in); got != c.text {
			t.Errorf("Text(%q): %q, want %q", c.in, got, c.text)
		}
		if got := printable.Cell(c.in); got != c.cell {
			t.Errorf("Cell(%q): %q, want %q", c.in, got, c.cell)
		}
	}
}
