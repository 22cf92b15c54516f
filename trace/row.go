package trace

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	maxCount   = 1_000_000     // GPUs, CPUs, replicas: more is a mistake in the file
	maxSamples = math.MaxInt32 // batch sizes
	maxNames   = 4096          // distinct values of repeated columns that share storage
)

// A row is one record of a delimited file. Its methods parse fields by column
// name; the first that fails sets err, and later ones still return something.
type row struct {
	header
	o      Options
	line   int      // 1-based, in the file
	index  int      // 0-based, among the rows
	fields []string // valid until the next row
	shared map[string]string
	err    error
}

// fail records that a field is not what was wanted.
func (r *row) fail(name, want string) {
	if r.err == nil {
		i := r.column[name]
		r.err = &Error{
			File: r.o.File, Line: r.line, Column: i + 1,
			Problem: fmt.Sprintf("%s %s, want %s", name, quote(r.fields[i]), want),
		}
	}
}

// quote returns s in quotes, cut to a length that fits a message.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		return strconv.Quote(s[:most]) + "..."
	}
	return strconv.Quote(s)
}

// has reports whether the file has the column.
func (r *row) has(name string) bool {
	_, ok := r.column[name]
	return ok
}

// raw returns a field as it is, or "" if the file has no such column. It is
// valid until the next row.
func (r *row) raw(name string) string {
	if i, ok := r.column[name]; ok {
		return strings.TrimSpace(r.fields[i])
	}
	return ""
}

// text returns a field to keep.
func (r *row) text(name string) string { return strings.Clone(r.raw(name)) }

// word returns a field to keep whose values recur.
func (r *row) word(name string) string {
	s := r.raw(name)
	if kept, ok := r.shared[s]; ok {
		return kept
	}
	s = strings.Clone(s)
	if len(r.shared) < maxNames {
		r.shared[s] = s
	}
	return s
}

// id returns a field that must not be empty.
func (r *row) id(name string) string {
	s := r.text(name)
	if s == "" {
		r.fail(name, "a name")
	}
	return s
}

// count parses a whole number from least to most.
func (r *row) count(name string, least, most int) int {
	n, err := strconv.ParseInt(r.raw(name), 10, 64)
	switch {
	case err == nil && n >= int64(least) && n <= int64(most):
		return int(n)
	case n > int64(most) && isNumber(r.raw(name)):
		r.fail(name, fmt.Sprintf("a whole number of at most %d", most))
	default:
		r.fail(name, fmt.Sprintf("a whole number of at least %d", least))
	}
	return least
}

// isNumber reports whether s is digits with an optional sign.
func isNumber(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// number parses a finite number that is not negative.
func (r *row) number(name string) float64 {
	x, err := strconv.ParseFloat(r.raw(name), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		r.fail(name, "a finite number of at least 0")
		return 0
	}
	return x + 0 // -0 becomes 0
}

// amount parses a number like the method number, scaled and at most most.
func (r *row) amount(name string, scale, most float64) float64 {
	x := r.number(name) * scale
	if x > most {
		r.fail(name, fmt.Sprintf("at most %g", most/scale))
		return 0
	}
	return x
}

// seconds parses a time span.
func (r *row) seconds(name string) time.Duration {
	d, ok := parseSeconds(r.raw(name))
	if !ok {
		r.fail(name, wantSeconds)
	}
	return d
}

// flag parses 0 or 1.
func (r *row) flag(name string) bool { return r.has(name) && r.count(name, 0, 1) == 1 }

// denies reports whether the file has the column and it says 0.
func (r *row) denies(name string) bool { return r.has(name) && !r.flag(name) }

// list parses the distinct names in a field, separated by sep.
func (r *row) list(name, sep string) []string {
	var names []string
	for s := range strings.SplitSeq(r.raw(name), sep) {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(names, s) {
			names = append(names, strings.Clone(s))
		}
	}
	return names
}
