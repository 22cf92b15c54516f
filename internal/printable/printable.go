// Package printable prepares text for people. It escapes texts of users, jobs and files, whose characters could
// move a terminal's cursor, begin a new log line, or make a formula of a cell.
package printable

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line escapes all characters that do not show as themselves, including newlines.
func Line(text string) string { return escape(text, "") }

// Text is Line, but leaves newlines and tabs.
func Text(text string) string { return escape(text, "\n\t") }

// Cell is Line for a CSV cell, with a leading apostrophe if a spreadsheet would read a formula. It is not for
// numbers.
func Cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + Line(text)
	}
	return Line(text)
}

// JSON escapes the texts in JSON as Text does.
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
	return rune(text[1]), 2 // such as an escaped backslash
}

// escape escapes hidden characters as JSON does: \u001b. Characters in but stay.
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

func hidden(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }
