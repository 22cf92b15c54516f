package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// swfFormat is the Standard Workload Format 2.2 of the Parallel Workloads Archive. It states processors, not GPUs.
const swfFormat = "swf"

const swfGPUs = swfFormat + "@gpus"

var swfColumns = []string{
	"job", "submit", "wait", "run", "processors", "cpu_time", "memory", "requested_processors", "requested_time", "requested_memory",
	"status", "user", "group", "application", "queue", "partition", "preceding_job", "think_time",
}

// swfRow matches the first row of a log: 18 numbers.
var swfRow = regexp.MustCompile(`^\s*\d+(\s+-?\d+(\.\d+)?){17}\s*$`)

func sniffSWF(head []byte) bool {
	for line := range bytes.Lines(head) {
		text := strings.TrimSpace(string(line))
		switch {
		case text == "":
		case !strings.HasPrefix(text, ";"):
			return swfRow.MatchString(text)
		case swfHead.MatchString(text):
			return true
		}
	}
	return false
}

var swfHead = regexp.MustCompile(`^;\s*(Version|Computer|Installation|UnixStartTime|TimeZoneString|MaxJobs|MaxRecords|MaxNodes|MaxProcs|StartTime|EndTime)\s*:\s*(.*)$`)

type swfLog struct {
	*parse.Feed
	now    *parse.Observed
	row    *parse.Row
	header map[string]int64 // numbers of header comments, by name in lower case
	perGPU bool             // the user counts processors as GPUs
}

func readSWF(perGPU bool) func(io.Reader, parse.Options) iter.Seq2[workload.Arrival, error] {
	return func(r io.Reader, o parse.Options) iter.Seq2[workload.Arrival, error] {
		return onlyArrivals(new(swfLog).jobs(r, o, perGPU), o)
	}
}

func swfHistory(perGPU bool) func(*bufio.Reader, parse.Options) (*History, error) {
	return func(b *bufio.Reader, o parse.Options) (*History, error) {
		l := new(swfLog)
		h, err := recordedHistory(swfFormat, l.jobs(b, o, perGPU), o, false)
		if err == nil {
			h.Cluster = l.cluster()
		}
		return h, err
	}
}

func (l *swfLog) jobs(r io.Reader, o parse.Options, perGPU bool) recordedSeq {
	o = o.Filled()
	return func(yield func(parse.Observed, error) bool) {
		*l = swfLog{perGPU: perGPU, header: make(map[string]int64)}
		l.Feed, l.now = recording(o, swfFormat, yield)
		l.row = parse.NewRow(l.O, parse.Columns(swfColumns, ' '))
		in := parse.NewLines(r, l.O)
		if in.Each(l.Feed, func(line string) bool {
			l.row.Line = in.Number
			if text := strings.TrimSpace(line); text == "" || text[0] == ';' {
				l.comment(text)
				return true
			}
			return l.line(line)
		}) {
			l.Finish(in.Number)
		}
	}
}

func (l *swfLog) comment(text string) {
	m := swfHead.FindStringSubmatch(text)
	if m == nil {
		return
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(m[2]), 10, 64); err == nil && n >= 0 && n < parse.MaxSeconds {
		l.header[strings.ToLower(m[1])] = n
	}
	if l.header["unixstarttime"] > 0 {
		l.O.Summary.Began = l.began()
	}
}

func (l *swfLog) began() time.Time { return time.Unix(l.header["unixstarttime"], 0).UTC() }

func (l *swfLog) line(line string) bool {
	if !l.perGPU {
		l.Fail(&parse.Error{File: l.O.File, Line: l.row.Line, Problem: "a log in the Standard Workload Format has processors and no GPUs; set --format " + swfGPUs + " to count each processor as a GPU"})
		return false
	}
	l.O.Summary.Rows++
	if err := l.row.Take(strings.Fields(line)); err != nil {
		return l.Reject(err)
	}
	a, drop := l.arrival()
	switch {
	case l.row.Err != nil:
		return l.Reject(l.row.Err)
	case drop != "":
		l.O.Summary.Note(drop)
		return true
	}
	if err := l.Check(&a); err != nil {
		return l.Reject(l.row.Blame(err))
	}
	l.observe(&a)
	return l.Accept(a, l.row.Line, 1, "job")
}

func (l *swfLog) known(name string) float64 {
	if l.row.Raw(name) == "-1" {
		return 0
	}
	return l.row.Amount(name, 1, parse.MaxSeconds)
}

func (l *swfLog) word(name string) string {
	if text := l.row.Word(name); text != "-1" {
		return text
	}
	return ""
}

func (l *swfLog) arrival() (workload.Arrival, string) {
	r := l.row
	a := workload.Arrival{At: r.Seconds("submit"), Duration: time.Duration(l.known("run") * float64(time.Second))}
	a.Spec = job.Spec{
		ID: job.ID(r.ID("job")), User: l.word("user"), Queue: l.word("queue"), Adaptivity: job.Rigid,
		GPUs: int(l.known("processors")), Target: l.known("requested_time"),
	}
	if a.Spec.GPUs == 0 {
		a.Spec.GPUs = int(l.known("requested_processors"))
	}
	if a.Spec.GPUs > parse.MaxCount {
		r.Fail("processors", fmt.Sprintf("at most %d", parse.MaxCount))
	}
	switch status := r.Raw("status"); status {
	case "2", "3", "4":
		return a, "rows of parts of jobs (status 2, 3 or 4) left out: another row has the whole job"
	case "0":
		r.O.Summary.Note("jobs that failed, simulated with their observed running time")
	case "5":
		r.O.Summary.Note("jobs that were cancelled, simulated with their observed running time")
	}
	if l.known("preceding_job") > 0 {
		r.O.Summary.Note("jobs that were submitted after another job, replayed at their time of submission")
	}
	return a, dropUnless(a)
}

func (l *swfLog) observe(a *workload.Arrival) {
	*l.now = parse.Observed{Submitted: l.began().Add(a.At)}
	if l.row.Raw("wait") == "-1" {
		l.O.Summary.Note(noteNoStart)
		return
	}
	l.now.Started = l.now.Submitted.Add(time.Duration(l.known("wait") * float64(time.Second)))
	l.now.Ended = l.now.Started.Add(a.Duration)
}

func (l *swfLog) cluster() string {
	nodes, processors := l.header["maxnodes"], l.header["maxprocs"]
	if nodes == 0 || processors == 0 || processors%nodes != 0 {
		return ""
	}
	return fmt.Sprintf("%s:%dx%d", unnamedType, nodes, processors/nodes)
}
