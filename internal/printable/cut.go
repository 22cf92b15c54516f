package printable

import "strings"

// Cut shortens lines of more than width characters, with "…" at their end. A width of 0 is no limit.
func Cut(text string, width int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimSuffix(line, "\n")
		if r := []rune(body); len(r) > width {
			line = string(r[:width-1]) + "…" + line[len(body):]
		}
		b.WriteString(line)
	}
	return b.String()
}
