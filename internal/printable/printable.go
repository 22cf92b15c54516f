// Package printable makes text safe to show: texts of users, jobs and files may have characters
// that move a terminal's cursor, begin a new line of a log, or make a cell of a sheet a formula.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Line returns a text with everything escaped that is not shown as it is, newlines too. It is for
// one line of a log or cell of a table.
func Line(text string) string { return escape(text, "") }

// Text returns a text with everything escaped that is not shown as it is, but newlines and tabs.
func Text(text string) string { return escape(text, "\n\t") }

// Cell returns a text as a cell of a CSV file: with an apostrophe in front if a spreadsheet would
// take it for a formula. All else stays, as programs read it too. It is not for numbers.
func Cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		text = "'" + text
	}
	return text
}

// escape returns a text with the characters that are not shown as JSON escapes them: \u001b. Those
// of but stay.
func escape(text, but string) string {
	if strings.IndexFunc(text, func(r rune) bool { return hidden(r) && !strings.ContainsRune(but, r) }) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !hidden(r) || strings.ContainsRune(but, r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	return b.String()
}

// hidden reports whether a character is a control character, changes the direction of text or
// hides in it, or ends a line.
func hidden(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }
