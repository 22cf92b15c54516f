package journal

import (
	"regexp"
	"strings"
	"time"
)

var end = regexp.MustCompile(`(?m)^\{"t":[0-9.]+,"end":true,.*\n`)

// Sealed returns a journal of format 1 as one of format 2, with the record of its end.
func Sealed(text string) string { return sealed(text) }

// Unsealed returns a journal without its hashes and its end: as one of format 1, which tests can
// edit.
func Unsealed(text string) string {
	text = regexp.MustCompile(`(?m),"h":"[0-9a-f]{8}"}$`).ReplaceAllString(end.ReplaceAllString(text, ""), "}")
	return strings.Replace(text, `{"oxj":2,`, `{"oxj":1,`, 1)
}

// Passed returns the time of the last checkpoint that the Reader has read past. It is false if there is none.
func (r *Reader) Passed() (time.Duration, bool) { return r.at, r.passed != nil }
