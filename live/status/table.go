package status

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
)

// Options configure a table.
type Options struct {
	Wide bool // more columns
	Bare bool // no header
	// Width cuts longer lines; 0 for no limit.
	Width int
}

type column[T any] struct {
	head string
	cell func(*T) string
}

func write[T any](w io.Writer, o Options, rows []T, columns []column[T]) error {
	var text strings.Builder
	t := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	line := make([]string, len(columns))
	for i, c := range columns {
		line[i] = c.head
	}
	if !o.Bare {
		fmt.Fprintln(t, strings.Join(line, "\t"))
	}
	for i := range rows {
		for k, c := range columns {
			line[k] = cmp.Or(printable.Line(c.cell(&rows[i])), "-")
		}
		fmt.Fprintln(t, strings.Join(line, "\t"))
	}
	_ = t.Flush() // in memory
	_, err := io.WriteString(w, printable.Cut(text.String(), o.Width))
	return err
}

// WriteJobs writes a row for each of jobs.
func (s *Status) WriteJobs(w io.Writer, jobs []Job, o Options) error {
	return write(w, o, jobs, s.jobColumns(jobs, o.Wide))
}

func (s *Status) jobColumns(jobs []Job, wide bool) []column[Job] {
	gpuType := column[Job]{"TYPE", func(j *Job) string { return j.anyType() }}
	eta := column[Job]{"ETA", func(j *Job) string { return j.eta(s.At) }}
	id := column[Job]{"NAME", func(j *Job) string { return string(j.ID) }}
	user := column[Job]{"USER", func(j *Job) string { return j.User }}
	name := column[Job]{"NAME", func(j *Job) string { return shorten(j.Name, 24) }}
	phase := column[Job]{"PHASE", func(j *Job) string { return j.phase() }}
	queue := column[Job]{"QUEUE", func(j *Job) string { return j.Queue }}
	reason := column[Job]{"REASON", func(j *Job) string { return j.shortReason() }}
	switch s.Backend {
	case Kubernetes:
		all := []column[Job]{
			{"NAMESPACE", func(j *Job) string { return j.Namespace }},
			name,
			{"KIND", func(j *Job) string { return j.Kind }},
			queue, phase,
			{"GPUS", func(j *Job) string { return unless(j.Unseen, j.GPUs) }},
			{"PLANNED", func(j *Job) string { return unless(j.Plan == nil, j.plan().GPUs) }},
			gpuType,
			{"WAITS", func(j *Job) string { return j.waits(s.At) }},
			eta, reason,
		}
		if wide {
			all = append(all, column[Job]{"NODES", func(j *Job) string { return placementText(j.where()) }}, column[Job]{"MESSAGE", func(j *Job) string { return j.Sentence }})
		}
		return all
	case Slurm:
		return []column[Job]{
			{"JOB", id.cell},
			name, user,
			{"PARTITION", queue.cell},
			phase,
			{"GPUS", func(j *Job) string { return strconv.Itoa(cmp.Or(j.GPUs, j.MaxGPUs)) }},
			gpuType,
			eta,
			{"REASON", func(j *Job) string { return j.slurmReason() }},
		}
	case Journal, Machine:
	}
	all := []column[Job]{
		id, phase,
		{"GPUS", func(j *Job) string { return j.gpus() }},
		{"BATCH", func(j *Job) string { return Number(float64(j.Batch)) }},
		{"GOODPUT", func(j *Job) string { return Number(j.Goodput) }},
		{"PROGRESS", func(j *Job) string { return j.progress() }},
		{"RESTARTS", func(j *Job) string { return strconv.Itoa(j.Restarts) }},
		eta, reason,
	}
	for i := range jobs {
		if jobs[i].User != "" {
			return append([]column[Job]{user}, all...)
		}
	}
	return all
}

// WriteQueues writes a row for each queue.
func (s *Status) WriteQueues(w io.Writer, o Options) error {
	number := func(n func(*Queue) int) func(*Queue) string {
		return func(q *Queue) string { return unless(q.Unseen, n(q)) }
	}
	all := []column[Queue]{
		{"NAME", func(q *Queue) string { return q.Name }},
		{"MODE", func(q *Queue) string { return q.Mode }},
		{"POLICY", func(q *Queue) string { return q.Policy }},
		{"RUNNING", number(func(q *Queue) int { return q.Running })},
		{"WAITING", number(func(q *Queue) int { return q.Waiting })},
		{"GPUS", number(func(q *Queue) int { return q.GPUs })},
		{"USED", number(func(q *Queue) int { return q.Held })},
		{"IDLE", number(func(q *Queue) int { return max(0, q.GPUs-q.Held) })},
		{"ACTIVE", func(q *Queue) string { return q.Active }},
	}
	if o.Wide {
		all = append(all, column[Queue]{"NAMESPACES", func(q *Queue) string { return strings.Join(q.Namespaces, ",") }}, column[Queue]{"MESSAGE", func(q *Queue) string { return q.Message }})
	}
	return write(w, o, s.Queues, all)
}

// WriteNodes writes a table with a row for each node, or for each slot of a machine.
func (s *Status) WriteNodes(w io.Writer, o Options) error {
	if s.Backend == Machine {
		return write(w, o, s.Slots(), slotColumns)
	}
	return write(w, o, s.Nodes, []column[Node]{
		{"NODE", func(n *Node) string { return n.Name }},
		{"QUEUE", func(n *Node) string { return n.Queue }},
		{"TYPE", func(n *Node) string { return string(n.Type) }},
		{"GPUS", func(n *Node) string { return unless(n.GPUs == 0, n.GPUs) }},
		{"USED", func(n *Node) string { return strconv.Itoa(n.Used) }},
		{"IDLE", func(n *Node) string { return unless(n.GPUs == 0, max(0, n.GPUs-n.Used)) }},
		{"JOBS", func(n *Node) string { return strings.Join(n.holders(), ",") }},
	})
}

// WriteIdle writes a table with a row for each node that has idle GPUs for a known reason.
func (s *Status) WriteIdle(w io.Writer, o Options) error {
	var idle []Node
	for i := range s.Nodes {
		if s.Nodes[i].Cause != "" {
			idle = append(idle, s.Nodes[i])
		}
	}
	if len(idle) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	return write(w, o, idle, []column[Node]{
		{"NODE", func(n *Node) string { return n.Name }},
		{"GPUS", func(n *Node) string { return strconv.Itoa(n.GPUs - n.Used) }},
		{"TYPE", func(n *Node) string { return string(n.Type) }},
		{"REASON", func(n *Node) string { return n.Cause + ": " + n.Idle }},
	})
}

var slotColumns = []column[Slot]{
	{"SLOT", func(s *Slot) string { return strconv.Itoa(s.Index) }},
	{"TYPE", func(s *Slot) string { return string(s.Type) }},
	{"DEVICE", func(s *Slot) string { return s.Visible }},
	{"JOB", func(s *Slot) string { return string(s.Job) }},
	{"RANK", func(s *Slot) string { return unless(s.Job == "", s.Rank) }},
	{"START", func(s *Slot) string { return unless(s.Job == "", s.Generation) }},
}

// Slots returns the slots of a machine.
func (s *Status) Slots() (all []Slot) {
	for i := range s.Nodes {
		all = append(all, s.Nodes[i].Slots...)
	}
	return all
}

// WriteHead writes one line for each queue, or for each GPU type if there are no queues, and the general problems.
func (s *Status) WriteHead(w io.Writer) {
	for i := range s.Queues {
		fmt.Fprintln(w, printable.Line(s.queueLine(&s.Queues[i])))
	}
	for i := range s.GPUs {
		if g := &s.GPUs[i]; len(s.Queues) == 0 {
			fmt.Fprintln(w, printable.Line(g.line()))
		}
	}
	for _, text := range s.Warnings() {
		fmt.Fprintln(w, "warning:", printable.Line(text))
	}
	for _, text := range s.Notes {
		fmt.Fprintln(w, "note:", printable.Line(text))
	}
}

func (g *GPUs) line() string {
	text := fmt.Sprintf("%s%s: %d held, %d idle", printable.Count(g.Total, "GPU"), ofType(string(g.Type)), g.Held, g.Total-g.Held)
	if g.Unusable > 0 {
		text += fmt.Sprintf(" (%d unusable)", g.Unusable)
	}
	return text
}

// Warnings returns the general problems that need a person, as sentences. Times are local.
func (s *Status) Warnings() []string {
	if s.SilentSince.IsZero() {
		return s.Attention
	}
	since, layout := s.SilentSince.Local(), "15:04"
	if s.At.Sub(since) >= 12*time.Hour {
		layout = "2 Jan 15:04"
	}
	return append([]string{"the scheduler has not answered since " + since.Format(layout) + "; Oxgang starts and changes no job until it runs again"}, s.Attention...)
}

func (s *Status) queueLine(q *Queue) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if q.Mode != "" {
		add("mode %s", q.Mode)
	}
	add("policy %s", q.Policy)
	if !q.Unseen {
		add("%d running, %d waiting, GPUs %d of %d", q.Running, q.Waiting, q.Held, q.GPUs)
	}
	if q.Round > 0 {
		add("round %d", q.Round)
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.CPUs.Total > 0 {
			add("cores %s of %s", tenth(n.CPUs.Used), tenth(n.CPUs.Total))
		}
		if n.Memory.Total > 0 {
			add("memory %s of %s GiB", tenth(n.Memory.Used/(1<<30)), tenth(n.Memory.Total/(1<<30)))
		}
	}
	for _, p := range q.Prices {
		add("price of %s %.3g", p.Type, p.Price)
	}
	return cmp.Or(q.Name, s.Title) + ": " + strings.Join(parts, ", ")
}

func unless(none bool, n int) string {
	if none {
		return ""
	}
	return strconv.Itoa(n)
}

func (n *Node) holders() []string {
	all := make([]string, len(n.Held))
	for i, h := range n.Held {
		all[i] = string(h.Job)
	}
	return all
}

func (j *Job) waits(at time.Time) string {
	if j.Phase != waiting || j.Since.IsZero() {
		return ""
	}
	return printable.Short(at.Sub(j.Since))
}

func (j *Job) plan() *Plan {
	if j.Plan == nil {
		return new(Plan)
	}
	return j.Plan
}

func (j *Job) where() []Share {
	if j.Unseen {
		return j.plan().Nodes
	}
	return j.Nodes
}

func (j *Job) anyType() string { return string(cmp.Or(j.GPUType, j.plan().GPUType)) }
