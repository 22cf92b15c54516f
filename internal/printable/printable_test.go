package printable_test

import (
	"encoding/json"
	"testing"

	"github.com/oxgang/oxgang/internal/printable"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ in, line, text, cell string }{
		{"plain, in \u00fc and \u4e2d", "plain, in \u00fc and \u4e2d", "plain, in \u00fc and \u4e2d", "plain, in \u00fc and \u4e2d"},
		{"two\nlines\tand", `two\nlines\u0009and`, "two\nlines\tand", `two\nlines\u0009and`},
		{"\x1b[2J\x07\r", `\u001b[2J\u0007\u000d`, `\u001b[2J\u0007\u000d`, `\u001b[2J\u0007\u000d`},
		{"\u009b2J \u202egnp \u2028", `\u009b2J \u202egnp \u2028`, `\u009b2J \u202egnp \u2028`, `\u009b2J \u202egnp \u2028`},
		{"\U000e0041", `\udb40\udc41`, `\udb40\udc41`, `\udb40\udc41`},
		{"\r=1", `\u000d=1`, `\u000d=1`, `'\u000d=1`},
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

// What JSON says is what Text shows, once it is read; and JSON stays JSON, with all else as it was.
func TestJSON(t *testing.T) {
	for _, text := range []string{
		"plain, in \u00fc and \u4e2d <b>&amp;", "two\nlines\tand", "\x1b[2J\x07\r\b\f", "\u009b2J \u202egnp \u2028", "\U000e0041", `a \u001b and \\ of the user's`, `"quoted" \\`, "\U0001f600", "",
	} {
		in, err := json.Marshal(map[string]any{text: []any{text, 1.5, nil, true}})
		if err != nil {
			t.Fatal(err)
		}
		shown := printable.Text(text)
		var got map[string][]any
		if err := json.Unmarshal(printable.JSON(in), &got); err != nil || len(got[shown]) != 4 || got[shown][0] != shown || got[shown][1] != 1.5 {
			t.Errorf("%s: %v (%v), want %q", in, got, err, shown)
		}
	}
	for _, broken := range []string{`"\`, `"\ux`, "\xff"} {
		if got := string(printable.JSON([]byte(broken))); got != broken {
			t.Errorf("%q, which is no JSON: %q", broken, got)
		}
	}
}
