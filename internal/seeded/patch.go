package seeded

import (
	"errors"
	"fmt"
	"strings"
)

type change struct {
	file     string
	old, new []string
}

func parse(text string) ([]change, error) {
	var all []change
	for i, line := range strings.Split(text, "\n") {
		file, begins := strings.CutPrefix(line, "@@ ")
		switch {
		case begins:
			all = append(all, change{file: file})
		case line == "", line[0] == '#':
		case len(all) > 0 && line[0] == '-':
			all[len(all)-1].old = append(all[len(all)-1].old, line[1:])
		case len(all) > 0 && line[0] == '+':
			all[len(all)-1].new = append(all[len(all)-1].new, line[1:])
		default:
			return nil, fmt.Errorf("line %d: got %q, want #, @@ and a file, or - and + after that", i+1, line)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the patch is empty: want @@ and a file")
	}
	for _, c := range all {
		if len(c.old) == 0 || lines(c.old) == lines(c.new) {
			return nil, fmt.Errorf("%s: a change without effect: want lines with - and different ones with +", c.file)
		}
	}
	return all, nil
}

// apply fails unless the old lines occur exactly once.
func (c *change) apply(source string) (string, error) {
	source, old := "\n"+source, "\n"+lines(c.old)
	at := strings.Index(source, old)
	if at < 0 || at != strings.LastIndex(source, old) {
		return "", fmt.Errorf("%s: these lines must occur exactly once; correct the patch:%s", c.file, old)
	}
	return (source[:at] + "\n" + lines(c.new) + source[at+len(old):])[1:], nil
}

func lines(all []string) string {
	var b strings.Builder
	for _, l := range all {
		b.WriteString(l + "\n")
	}
	return b.String()
}
