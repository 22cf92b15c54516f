package client

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

type record struct {
	fields map[string]string
	names  []string
	parts  [][2]string // Nodes and GRES of a job
	line   int
}

var fieldName = regexp.MustCompile(`(?:^| )([A-Z][A-Za-z_]*(?:[/:][A-Za-z:/]+)?)=`)

// records parses scontrol -o. Each line must begin with the field first and contain the needed fields. A repeated
// field that is not in repeated is an error: a name may contain text that looks like another field.
func records(text []byte, first string, needed, repeated []string) ([]record, error) {
	var all []record
	n := 0
	for line := range strings.Lines(string(text)) {
		line, n = strings.TrimRight(line, "\n"), n+1
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "No ") {
			continue
		}
		if !strings.HasPrefix(line, first+"=") {
			return nil, fmt.Errorf("%w: line %d: %.40q, want a line that begins with %s=; a name or comment may have a line break", ErrMalformed, n, line, first)
		}
		r := record{fields: make(map[string]string), line: n}
		if err := r.read(line, repeated); err != nil {
			return nil, err
		}
		for _, name := range needed {
			if _, has := r.fields[name]; !has {
				return nil, fmt.Errorf("%w: line %d: no %s", ErrMalformed, n, name)
			}
		}
		all = append(all, r)
	}
	return all, nil
}

func (r *record) read(line string, repeated []string) error {
	found := fieldName.FindAllStringSubmatchIndex(line, -1)
	for i, at := range found {
		end := len(line)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		name, value := line[at[2]:at[3]], strings.TrimSpace(line[at[1]:end])
		if _, twice := r.fields[name]; twice && !slices.Contains(repeated, name) {
			return fmt.Errorf("%w: line %d: %s comes twice; a name or comment may contain it", ErrMalformed, r.line, name)
		}
		if slices.Contains(repeated, name) {
			r.parts = append(r.parts, [2]string{name, value})
		}
		r.fields[name], r.names = value, append(r.names, name)
	}
	return nil
}

func (r *record) get(name string) string {
	v := r.fields[name]
	if v == "(null)" || v == "N/A" || v == "None" || v == "n/a" || v == "ALL" {
		return ""
	}
	return v
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func (c *checker) field(r *record, name string) number {
	v := r.get(name)
	if v == "" || v == "Unknown" || v == "UNLIMITED" || v == "NONE" {
		return number{}
	}
	v, _, _ = strings.Cut(v, "-") // NumNodes=2-4 means at least 2
	x, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		c.keep(fmt.Errorf("%w: line %d: %s %q, want a whole number", ErrMalformed, r.line, name, r.get(name)))
	}
	return number{value: float64(x), set: true}
}

func (c *checker) span(r *record, name string) time.Duration {
	v := r.get(name)
	if v == "" || v == "UNLIMITED" || v == "NONE" || v == "Partition_Limit" {
		return 0
	}
	d, err := span(v)
	if err != nil {
		c.keep(fmt.Errorf("%w: line %d: %s %q, want a time like 1-02:03:04", ErrMalformed, r.line, name, v))
	}
	return d
}

func span(v string) (time.Duration, error) {
	days, clock, hasDays := strings.Cut(v, "-")
	if !hasDays {
		days, clock = "0", v
	}
	total, err := strconv.ParseUint(days, 10, 16)
	if err != nil {
		return 0, err
	}
	parts := strings.Split(clock, ":")
	if len(parts) > 3 || len(parts) < 2 {
		return 0, strconv.ErrSyntax
	}
	seconds := uint64(0)
	for _, p := range parts {
		n, err := strconv.ParseUint(p, 10, 32)
		if err != nil {
			return 0, err
		}
		seconds = seconds*60 + n
	}
	if seconds > math.MaxInt32 {
		return 0, strconv.ErrRange
	}
	return time.Duration(total)*24*time.Hour + time.Duration(seconds)*time.Second, nil
}

func tresMemory(list string) (int64, error) {
	for item := range strings.SplitSeq(list, ",") {
		if v, is := strings.CutPrefix(item, "mem="); is {
			return memory(v)
		}
	}
	return 0, nil
}

func memory(text string) (int64, error) {
	const units = "KMGTP"
	shift, digits := 20, text
	if i := strings.IndexAny(text, units); i >= 0 && i == len(text)-1 {
		shift, digits = 10*(strings.IndexByte(units, text[i])+1), text[:i]
	}
	x, err := strconv.ParseFloat(digits, 64)
	if x *= float64(int64(1) << shift); err != nil || !(x >= 0 && x < 1<<52) { // rejects NaN too
		return 0, fmt.Errorf("%w: memory %q, want it like 64G", ErrMalformed, text)
	}
	return int64(x), nil
}
