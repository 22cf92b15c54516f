package parse

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A Mapping states what the columns of a table mean.
type Mapping struct {
	Comma   byte              // separator of the table
	Columns map[string]Column // by field, see mappingFields
}

// A Column states which field of a job a column of a table contains, and in which unit.
type Column struct {
	Name string // column name in lower case
	Unit string // unit of the values; empty: the field's first unit
	Line int    // line of the mapping file
}

// Layout returns the layout of the column's calendar times in Go's form, or "" if the unit is not a date pattern.
func (c Column) Layout() string {
	if !strings.Contains(c.Unit, "YYYY") {
		return ""
	}
	return strings.NewReplacer("YYYY", "2006", "MM", "01", "DD", "02", "hh", "15", "mm", "04", "ss", "05", "ZZ", "-07:00").Replace(c.Unit)
}

// A mappingField is a field of jobs that a column may contain.
type mappingField struct {
	Name, Doc string
	Units     []string // the first is the default; none: the field has no unit
	// Names are usual column names of the field, in lower case, letters and digits only.
	Names []string
}

var (
	instants  = []string{"date", "unix", "unix-ms", "seconds"}
	durations = []string{"s", "ms", "min", "h", "clock"}
)

var mappingFields = []mappingField{
	{"id", "name of the job; rows are numbered without it", nil, []string{"id", "jobid", "idjob", "job", "jobnr", "jobnumber", "uid", "uuid"}},
	{"name", "name that the user chose", nil, []string{"name", "jobname", "title"}},
	{"user", "user", nil, []string{"user", "username", "userid", "iduser", "owner", "account", "login"}},
	{"queue", "queue, partition or virtual cluster", nil, []string{"queue", "partition", "vc", "project", "group", "namespace", "pool"}},
	{"submit", "time of submission", instants, []string{"submit", "submitted", "submittime", "submittedat", "submissiontime", "submitteddate", "timesubmit", "creationtime", "created", "createdat", "createtime", "queued", "queuedat", "arrival", "arrivaltime", "qtime"}},
	{"start", "time of the start", instants, []string{"start", "started", "starttime", "startedat", "timestart", "begin", "began", "begintime", "startts"}},
	{"end", "time of the end", instants, []string{"end", "ended", "endtime", "endedat", "timeend", "finish", "finished", "finishtime", "finishedat", "completed", "completedat", "completiontime", "stop", "stoptime", "endts"}},
	{"duration", "running time", durations, []string{"duration", "durations", "elapsed", "runtime", "run", "walltime", "elapsedraw", "runningtime", "usedwalltime"}},
	{"limit", "time limit", durations, []string{"limit", "timelimit", "requestedtime", "reqwalltime", "walltimelimit"}},
	{"gpus", "GPUs of the job", []string{"count", "percent", "milli"}, []string{"gpus", "ngpus", "ngpu", "gpu", "numgpus", "numgpu", "gpunum", "gpucount", "reqgpus", "gpusrequested", "allocgpus", "gpurequest"}},
	{"gpus-per-node", "GPUs on each node, times the field nodes", []string{"count"}, []string{"gpuspernode", "gpupernode"}},
	{"nodes", "number of nodes", []string{"count"}, []string{"nodes", "nnodes", "numnodes", "nodenum", "nodecount", "allocnodes"}},
	{"gpu-type", "type of the GPUs", nil, []string{"gputype", "gpumodel", "gpuname", "gpukind", "gres"}},
	{"cpus", "CPU cores of the job", []string{"count"}, []string{"cpus", "ncpus", "cpu", "numcpus", "cpunum", "cpucount", "cores", "reqcpus", "alloccpus"}},
	{"memory", "memory of the job", []string{"GB", "MB", "bytes"}, []string{"memory", "mem", "memgb", "memorygb", "reqmem"}},
	{"state", "how the job ended, counted", nil, []string{"state", "status", "jobstate", "exitstatus"}},
}

func fieldOf(name string) (mappingField, bool) {
	i := slices.IndexFunc(mappingFields, func(f mappingField) bool { return f.Name == name })
	if i < 0 {
		return mappingField{}, false
	}
	return mappingFields[i], true
}

var separators = map[string]byte{",": ',', ";": ';', "|": '|', "tab": '\t'}

// ReadMapping reads a mapping file: lines "COLUMN = FIELD [UNIT]", "separator = ;" unless it is a comma, and comments
// after #. Errors are of type *Error.
func ReadMapping(r io.Reader, file string) (*Mapping, error) {
	m := &Mapping{Comma: ',', Columns: map[string]Column{}}
	in := NewLines(r, Options{File: file}.Filled())
	for {
		line, err := in.Next()
		if err != nil {
			if err == io.EOF { //nolint:errorlint // Next documents it
				break
			}
			return nil, err
		}
		if text := strings.TrimSpace(string(line)); text != "" && text[0] != '#' {
			if problem := m.add(text, in.Number); problem != "" {
				return nil, &Error{File: file, Line: in.Number, Problem: problem}
			}
		}
	}
	if problem := m.lacks(); problem != "" {
		return nil, &Error{File: file, Problem: problem}
	}
	return m, nil
}

func (m *Mapping) add(text string, line int) (problem string) {
	at := strings.LastIndex(text, "=")
	if at < 0 {
		return fmt.Sprintf("%s, want COLUMN = FIELD [UNIT]", Quote(text))
	}
	name, value := strings.Trim(strings.TrimSpace(text[:at]), `"`), strings.TrimSpace(text[at+1:])
	if comma, ok := separators[value]; name == "separator" {
		if m.Comma = comma; !ok {
			return fmt.Sprintf("separator %s, want , ; | or tab", Quote(value))
		}
		return ""
	}
	field, unit, _ := strings.Cut(value, " ")
	f, ok := fieldOf(field)
	c := Column{Name: strings.ToLower(name), Unit: strings.Trim(strings.TrimSpace(unit), `"`), Line: line}
	switch {
	case !ok:
		return fmt.Sprintf("field %s, want one of %s", Quote(field), strings.Join(fieldNames(), ", "))
	case c.Unit != "" && !f.has(c):
		return fmt.Sprintf("unit %s of field %s, want %s", Quote(c.Unit), field, f.units())
	case m.Columns[field].Name != "":
		return fmt.Sprintf("second column of field %s, want each field once: line %d has it", field, m.Columns[field].Line)
	}
	m.Columns[field] = c
	return ""
}

func (f mappingField) has(c Column) bool {
	if slices.Contains(f.Units, c.Unit) {
		return true
	}
	if !slices.Contains(f.Units, "date") || c.Layout() == "" {
		return false
	}
	at := time.Date(2006, 11, 22, 13, 14, 15, 0, time.UTC)
	back, err := time.Parse(c.Layout(), at.Format(c.Layout()))
	return err == nil && back.Year() == at.Year() && back.YearDay() == at.YearDay()
}

func (f mappingField) units() string {
	if f.Units == nil {
		return "none"
	}
	text := strings.Join(f.Units, ", ")
	if f.Units[0] == "date" {
		text += ", or a pattern like DD.MM.YYYY hh:mm:ss"
	}
	return text
}

func fieldNames() []string {
	var names []string
	for _, f := range mappingFields {
		names = append(names, f.Name)
	}
	return names
}

// Has reports whether a column has the field.
func (m *Mapping) Has(field string) bool { return m.Columns[field].Name != "" }

func (m *Mapping) lacks() string {
	switch {
	case !m.Has("submit") && !m.Has("start"):
		return "no column for the field submit or start"
	case !m.Has("duration") && (!m.Has("start") || !m.Has("end")):
		return "no column for the field duration, nor for start and end"
	case m.Has("gpus-per-node") && !m.Has("nodes"):
		return "field gpus-per-node needs a column for the field nodes"
	case m.Has("gpus") == m.Has("gpus-per-node"):
		return "want a column for either the field gpus, or gpus-per-node and nodes"
	}
	return ""
}

// GuessMapping returns a mapping file for a table with this header line; the names of columns suggest the fields. It is
// "" if the header has fewer than three columns or contains values.
func GuessMapping(header string) string {
	name, columns := splitHeader(header)
	if len(columns) < 3 || strings.ContainsAny(header, "<=") {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "separator = %s\n", name)
	taken := map[string]bool{}
	for _, c := range columns {
		field, unit := guessField(c, taken)
		if field == "" {
			fmt.Fprintf(&b, "# %s = ?\n", c)
			continue
		}
		taken[field] = true
		fmt.Fprintf(&b, "%s = %s\n", c, strings.TrimSpace(field+" "+unit))
	}
	var open []string
	taken["duration"] = taken["duration"] || taken["end"]
	for _, f := range []string{"submit", "start", "duration", "gpus", "gpu-type"} {
		if !taken[f] {
			open = append(open, f)
		}
	}
	if open != nil {
		fmt.Fprintf(&b, "# no column found for: %s\n", strings.Join(open, ", "))
	}
	return b.String()
}

func splitHeader(header string) (name string, columns []string) {
	for _, s := range []string{",", ";", "|", "tab"} {
		if fields, ok := split(nil, header, separators[s]); ok && len(fields) > len(columns) {
			name, columns = s, fields
		}
	}
	return name, columns
}

func guessField(column string, taken map[string]bool) (field, unit string) {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(column))
	for _, f := range mappingFields {
		if taken[f.Name] {
			continue
		}
		if slices.Contains(f.Names, plain) {
			return f.Name, ""
		}
		for _, u := range []string{"ms", "min", "s", "h"} {
			if short, ok := strings.CutSuffix(plain, u); ok && slices.Contains(f.Units, u) && slices.Contains(f.Names, short) {
				return f.Name, u
			}
		}
	}
	return "", ""
}
