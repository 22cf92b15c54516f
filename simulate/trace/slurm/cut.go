package slurm

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

var freeText = []string{"jobname", "submitline", "comment", "admincomment", "systemcomment", "workdir", "constraints", "container", "wckey"}

// forms are patterns of columns, which determine how a row is split.
var forms = map[string]*regexp.Regexp{
	"jobid":      jobID,
	"submit":     anyTime,
	"eligible":   anyTime,
	"start":      anyTime,
	"end":        anyTime,
	"elapsedraw": regexp.MustCompile(`^[0-9]*$`),
	"elapsed":    regexp.MustCompile(`^[0-9:.-]*$`),
	"state":      regexp.MustCompile(`^[A-Z_]*( by [0-9]+)?\+?$`),
	"reqtres":    resources,
	"alloctres":  resources,
}

var (
	anyTime   = regexp.MustCompile(`^([0-9]{4,}[0-9T:+Z-]*|Unknown|None|N/A|)$`)
	resources = regexp.MustCompile(`^([^=,|]+=[^=,|]+(,[^=,|]+=[^=,|]+)*)?$`)
)

func (t *table) find() {
	for i, name := range t.names {
		if slices.Contains(freeText, name) {
			t.free = append(t.free, i)
		}
		if forms[name] != nil {
			t.check = append(t.check, i)
		}
	}
}

// cut splits a line into fields. sacct does not quote, so a separator in a job's name makes a row longer. The
// row is repaired if exactly one split fits the forms of all columns.
func (t *table) cut(line string) error {
	if t.comma == ',' {
		if err := t.row.Cut(line); err != nil {
			return explained(err, strings.Contains(line, "="))
		}
		return nil
	}
	fields := t.split(line)
	if surplus := len(fields) - len(t.names); surplus > 0 {
		mended, err := t.mend(fields, surplus)
		if err != nil {
			return err
		}
		fields = mended
	}
	return t.row.Take(fields)
}

func (t *table) split(line string) []string {
	t.fields = t.fields[:0]
	for {
		i := strings.IndexByte(line, t.comma)
		if i < 0 {
			t.fields = append(t.fields, line)
			return t.fields
		}
		t.fields, line = append(t.fields, line[:i]), line[i+1:]
	}
}

func explained(err error, resources bool) error {
	if e, ok := errors.AsType[*parse.Error](err); ok && resources {
		e.Problem += " (commas inside ReqTRES and AllocTRES are not quoted)" + refused
	}
	return err
}

// mend joins surplus fields into the one column of free text for which the row fits the forms.
func (t *table) mend(fields []string, surplus int) ([]string, error) {
	var found []string
	for _, i := range t.free {
		joined := slices.Concat(fields[:i], []string{strings.Join(fields[i:i+surplus+1], string(t.comma))}, fields[i+surplus+1:])
		if !t.fits(joined) {
			continue
		}
		if found != nil {
			found = nil
			break
		}
		found = joined
	}
	if found == nil {
		return nil, &parse.Error{
			File: t.row.O.File, Line: t.row.Line,
			Problem: fmt.Sprintf("%d fields, want %d: a name has the separator in it, and it is not clear where; leave the columns of free text but JobName out", len(fields), len(t.names)) + refused,
		}
	}
	return found, nil
}

func (t *table) fits(fields []string) bool {
	for _, i := range t.check {
		if !forms[t.names[i]].MatchString(fields[i]) {
			return false
		}
	}
	return true
}
