// Package printable prepares text for people. Texts of users, jobs and files are made safe to show: they may have characters
// that move a terminal's cursor, begin a new line of a log, or make a cell of a sheet a formula.
package printable

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line returns a text with everything escaped that is not shown as it is, newlines too. It is for
// one line of a log or cell of a table.
func Line(text string) string { return escape(text, "") }

// Text returns a text with everything escaped that is not shown as it is, but newlines and tabs.
func Text(text string) string { return escape(text, "\n\t") }

// Cell returns a text as a cell of a CSV file: as Line does, and with an apostrophe in front if a spreadsheet would
// take it for a formula. It is not for numbers.
func Cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + Line(text)
	}
	return Line(text)
}

// JSON returns JSON whose texts, once they are read, are what Text returns of them.
func JSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := character(text)
		if n > 0 && hidden(r) && r != '\n' && r != '\t' {
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\\u%04x`, unit)
			}
		} else {
			n = max(n, 1)
			out = append(out, text[:n]...)
		}
		text = text[n:]
	}
	return out
}

// character returns the character that a text of JSON begins with, escaped or not, and its length; 0: none of those
// that matter here.
func character(text []byte) (r rune, n int) {
	if text[0] != '\\' {
		return utf8.DecodeRune(text)
	}
	if len(text) < 2 {
		return 0, 0
	}
	switch text[1] {
	case 'u':
		n, err := strconv.ParseUint(string(text[2:min(6, len(text))]), 16, 16)
		if err != nil {
			return 0, 0
		}
		return rune(n), 6
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'r':
		return '\r', 2
	}
	return rune(text[1]), 2 // the escape of a backslash, say: what is behind it begins nothing
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
