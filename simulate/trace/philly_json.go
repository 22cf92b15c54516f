package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

type phillyJob struct {
	Status    string          `json:"status"`
	VC        string          `json:"vc"`
	ID        string          `json:"jobid"`
	User      string          `json:"user"`
	Submitted string          `json:"submitted_time"`
	Attempts  []phillyAttempt `json:"attempts"`
}

type phillyAttempt struct {
	Start  string `json:"start_time"`
	End    string `json:"end_time"`
	Detail []struct {
		IP   string   `json:"ip"` // the machine
		GPUs []string `json:"gpus"`
	} `json:"detail"`
}

// Formats in which some inputs have starts of jobs.
const (
	PhillyFormat = "philly"
	HeliosFormat = "helios"
)

type phillyLog struct {
	o        parse.Options
	last     *phillyJob
	machines map[string]int // GPUs by name; nil: not requested
}

// readPhilly reads cluster_job_log, an unsorted JSON array with local times, or the CSV derived from it.
func readPhilly(r io.Reader, o parse.Options) iter.Seq2[workload.Arrival, error] {
	b := bufio.NewReaderSize(r, parse.HeadBytes)
	if head, _ := b.Peek(parse.HeadBytes); firstByte(head) == '[' { // a read error occurs again later
		return parse.SinceFirst((&phillyLog{o: o.Filled()}).arrivals(b), o)
	}
	return phillyTable.Read(b, o)
}

func (l *phillyLog) arrivals(r *bufio.Reader) iter.Seq2[workload.Arrival, error] {
	o := l.o
	return func(yield func(workload.Arrival, error) bool) {
		f := parse.NewFeed(o, PhillyFormat, true, yield)
		in := &elements{r: r, o: o, line: 1}
		for {
			text, line, err := in.next()
			switch {
			case errors.Is(err, io.EOF):
				f.Finish(in.line)
				return
			case err != nil && !errors.Is(err, parse.ErrTooLong):
				f.Fail(err)
				return
			}
			o.Summary.Rows++
			if err != nil {
				if !f.Reject(err) {
					return
				}
				continue
			}
			if !l.element(f, text, line) {
				return
			}
		}
	}
}

func (l *phillyLog) element(f *parse.Feed, text []byte, line int) bool {
	var j phillyJob
	if err := json.Unmarshal(text, &j); err != nil {
		return f.Reject(&parse.Error{File: f.O.File, Line: line, Problem: jsonProblem(err), Err: err})
	}
	a, drop, err := j.arrival(f.O)
	if err == nil {
		err = l.addMachines(&j)
	}
	switch {
	case err != nil:
		return f.Reject(&parse.Error{File: f.O.File, Line: line, Problem: err.Error()})
	case drop != "":
		f.O.Summary.Note(drop)
		return true
	}
	if err := f.Check(&a); err != nil {
		return f.Reject(&parse.Error{File: f.O.File, Line: line, Problem: err.Error(), Err: err})
	}
	if l.last = &j; f.O.Wait != nil {
		seen := j.observed(a.Spec.GPUs, new(parse.Summary))
		f.O.Waited(&seen)
	}
	return f.Accept(a, line, 0, "jobid")
}

func (j *phillyJob) arrival(o parse.Options) (a workload.Arrival, drop string, err error) {
	if j.ID == "" {
		return a, "", errors.New(`jobid "", want a name`)
	}
	if phillyNone(j.Submitted) {
		return a, "jobs without a submission time dropped", nil
	}
	submitted, err := phillyTime("submitted_time", j.Submitted)
	if err != nil {
		return a, "", err
	}
	var ok bool
	if a.At, ok = parse.SinceStart(submitted, o); !ok {
		return a, "", fmt.Errorf("submitted_time %q, want a year from %d to %d", j.Submitted, parse.FirstYear, parse.LastYear)
	}
	a.Spec = job.Spec{ID: job.ID(j.ID), User: j.User, Queue: j.VC, Adaptivity: job.Rigid}
	for _, attempt := range j.Attempts {
		ran, gpus, err := attempt.ran()
		switch {
		case err != nil:
			return a, "", err
		case ran < 0:
			o.Summary.Note("attempts that end before they start, counted as 0 s")
			ran = 0
		case phillyNone(attempt.Start) || phillyNone(attempt.End):
			o.Summary.Note("attempts without start or end in the log, ignored")
		}
		if a.Duration += ran; a.Duration < 0 || a.Duration > parse.MaxSeconds*time.Second { // below 0: overflow
			return a, "", errors.New("attempts that last longer than 285 years, want less")
		}
		a.Spec.GPUs = max(a.Spec.GPUs, gpus)
	}
	switch {
	case a.At < 0:
		return a, parse.DropEarlier, nil
	case len(j.Attempts) > 1:
		o.Summary.Note("jobs with several attempts, simulated with their total running time")
	}
	return a, dropUnless(a), nil
}

func (p *phillyAttempt) ran() (time.Duration, int, error) {
	gpus, _ := p.gpus()
	if phillyNone(p.Start) || phillyNone(p.End) {
		return 0, gpus, nil
	}
	start, err := phillyTime("start_time", p.Start)
	if err != nil {
		return 0, 0, err
	}
	end, err := phillyTime("end_time", p.End)
	if err != nil {
		return 0, 0, err
	}
	return end.Sub(start), gpus, nil
}

func phillyNone(s string) bool { return s == "" || s == "None" }

// phillyTime parses a time like "2017-10-09 07:08:52". It ignores a following PST or PDT, like the published
// analysis.
func phillyTime(name, s string) (time.Time, error) {
	clean := strings.TrimSuffix(strings.TrimSuffix(s, " PST"), " PDT")
	t, err := time.Parse(time.DateTime, clean)
	if err != nil {
		return t, fmt.Errorf("%s %s, want a time like 2017-10-09 07:08:52", name, parse.Quote(s))
	}
	return t, nil
}

// elements splits a JSON array into its objects, and holds at most the longest allowed one.
type elements struct {
	r      *bufio.Reader
	o      parse.Options
	line   int // of the last byte, 1-based
	opened bool
	some   bool
	text   []byte
}

// next returns the next element, valid until the next call, and its line; io.EOF at the end. It can continue
// after parse.ErrTooLong.
func (e *elements) next() (text []byte, line int, err error) {
	c, err := e.skip()
	if !e.opened && err == nil {
		e.opened = true
		if c != '[' {
			return nil, 0, e.unexpected(c, "[")
		}
		c, err = e.skip()
	}
	switch {
	case err != nil:
		return nil, 0, err
	case c == ']':
		return nil, 0, e.end()
	case e.some && c != ',':
		return nil, 0, e.unexpected(c, ", or ]")
	case e.some:
		if c, err = e.skip(); err != nil {
			return nil, 0, err
		}
	}
	if c != '{' {
		return nil, 0, e.unexpected(c, "{")
	}
	e.some = true
	line = e.line
	text, err = e.object()
	return text, line, err
}

func (e *elements) object() ([]byte, error) {
	e.text = append(e.text[:0], '{')
	begin, size := e.line, 1
	for depth, quoted, escaped := 1, false, false; depth > 0; size++ {
		c, err := e.read()
		if err != nil {
			return nil, err
		}
		if size < e.o.MaxLine {
			e.text = append(e.text, c)
		}
		switch {
		case escaped:
			escaped = false
		case quoted:
			escaped, quoted = c == '\\', c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
	}
	if size > e.o.MaxLine {
		return nil, &parse.Error{
			File: e.o.File, Line: begin, Err: parse.ErrTooLong,
			Problem: fmt.Sprintf("element of %d bytes, want at most %d", size, e.o.MaxLine),
		}
	}
	return e.text, nil
}

func (e *elements) read() (byte, error) {
	c, err := e.r.ReadByte()
	switch {
	case errors.Is(err, io.EOF):
		return 0, &parse.Error{File: e.o.File, Line: e.line, Problem: "truncated: the file ends, want ]", Err: io.ErrUnexpectedEOF}
	case err != nil:
		return 0, parse.ReadError(e.o, e.line, err)
	case c == '\n':
		e.line++
	}
	return c, nil
}

func (e *elements) skip() (byte, error) {
	for {
		c, err := e.read()
		if err != nil || !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)) && (e.opened || bytes.IndexByte(parse.ByteOrderMark, c) < 0) {
			return c, err
		}
	}
}

func (e *elements) end() error {
	for {
		c, err := e.r.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return io.EOF
		case err != nil:
			return parse.ReadError(e.o, e.line, err)
		case c == '\n':
			e.line++
		case bytes.IndexByte([]byte(" \t\r\n"), c) < 0:
			return e.unexpected(c, "the end of the file")
		}
	}
}

func (e *elements) unexpected(c byte, want string) error {
	return &parse.Error{File: e.o.File, Line: e.line, Problem: fmt.Sprintf("%q, want %s", c, want)}
}
