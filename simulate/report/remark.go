package report

import (
	"slices"

	"github.com/oxgang/oxgang/internal/printable"
)

type remark struct {
	key   string
	value func(*Run) string // empty if unknown
	words bool
}

func remarksOf(runs []Run) []remark {
	var all []remark
	if slices.ContainsFunc(runs, func(r Run) bool { return r.Trust != nil }) {
		all = append(all, trustColumns...)
	}
	if slices.ContainsFunc(runs, func(r Run) bool { return r.Delays != nil }) {
		all = append(all, remark{key: "later_worst_job", value: worstJob, words: true})
	}
	if verdictOf(runs) != nil {
		all = append(all, verdictColumns...)
	}
	return all
}

func (c *remark) cell(r *Run) string {
	if c.words {
		return printable.Cell(c.value(r))
	}
	return c.value(r)
}

func (c *remark) literal(r *Run) string {
	text := c.value(r)
	switch {
	case text == "":
		return "null"
	case c.words:
		return quoted(text)
	}
	return text
}
