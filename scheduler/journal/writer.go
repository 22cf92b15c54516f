package journal

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A Writer is a scheduler.Observer that writes a run into a journal. After an error it writes nothing more; Flush and
// Close return the first error.
type Writer struct {
	w        *bufio.Writer
	enc      encoder
	chain    chain
	head     Header
	start    time.Time
	last     time.Duration
	err      error
	recorded map[job.ID]*recordedDecision // of the last round
	jobs     []job.ID                     // in order
	round    int
	wants    map[cluster.Group]int // capacity of the last plan
	there    *cluster.Cluster      // last list of nodes; nil: none yet
	// Of the last round, for checkpoints.
	prices  []policy.TypePrice
	refused string
	size    int64
	back    int64 // offset of the last checkpoint; 0: there is none
	after   int64 // offset of the line after it, or after the header
}

type recordedDecision struct {
	policy.Decision
	round int
}

var _ scheduler.Observer = (*Writer)(nil)

// NewWriter writes the header h to w, and returns a Writer.
func NewWriter(w io.Writer, h Header) *Writer {
	j := &Writer{w: bufio.NewWriterSize(w, 1<<16), chain: newChain(), head: h, start: h.Start.Round(0).UTC(), recorded: map[job.ID]*recordedDecision{}}
	if err := h.validate(); err != nil {
		j.err = fmt.Errorf("journal: header: %w", err)
		return j
	}
	j.enc.json(h.line())
	j.end("header")
	j.after = j.size
	return j
}

// Event writes one event.
func (w *Writer) Event(now time.Time, ev scheduler.Event) {
	w.begin(now)
	switch ev := ev.(type) {
	case scheduler.Submitted:
		w.enc.raw(`,"submit":`)
		w.enc.json(makeSpecLine(ev.Spec))
	case scheduler.Described:
		w.enc.raw(`,"describe":`)
		w.enc.json(makeSpecLine(ev.Spec))
	case scheduler.Restored:
		w.enc.restored(&ev)
	case scheduler.Reported:
		w.enc.raw(`,"report":`)
		w.enc.report(&ev.Report)
	case scheduler.Profiled:
		w.enc.raw(`,"profiled":`)
		w.enc.str(string(ev.Job))
	case scheduler.Exited:
		w.enc.raw(`,"exit":[`)
		w.enc.str(string(ev.Job))
		w.enc.raw(",")
		w.enc.str(ev.Outcome.String())
		if ev.Detail != "" {
			w.enc.raw(",")
			w.enc.str(ev.Detail)
		}
		w.enc.raw("]")
	case scheduler.NodesChanged:
		w.enc.raw(",")
		w.nodes(&ev)
	case scheduler.Computed:
		w.enc.raw(`,"computed":true`)
	default:
		w.enc.fail(fmt.Errorf("got event %T, want one of package scheduler's", ev))
	}
	w.enc.raw("}")
	w.end("event")
}

func (w *Writer) nodes(ev *scheduler.NodesChanged) {
	w.enc.raw(`"nodes":`)
	if len(ev.Loans) > 0 && ev.Cluster == w.there {
		w.enc.raw("null")
	} else {
		w.enc.json(nodeLines(ev.Cluster))
	}
	w.there = ev.Cluster
	if len(ev.Rentals) > 0 {
		w.enc.raw(`,"rentals":`)
		w.enc.json(rentalLines(ev.Rentals))
	}
	if len(ev.Loans) > 0 {
		w.enc.raw(`,"loans":`)
		w.enc.json(loanLines(ev.Loans))
	}
}

// Round writes the decisions of a round: for each job only what differs from its last recorded decision. If p is
// nil or has no decisions, it records only the actions.
func (w *Writer) Round(s *policy.Snapshot, p *policy.Plan, actions []scheduler.Action) {
	w.begin(s.Now)
	w.enc.raw(`,"round":{"n":`)
	w.enc.int(s.Round)
	w.prices, w.refused = nil, ""
	if p != nil {
		w.prices, w.refused = p.Prices, p.Refused
		w.plan(s, p)
	}
	for i, a := range actions {
		w.listItem(i, `,"do":[`)
		w.enc.action(a)
	}
	w.listEnd(len(actions))
	w.enc.raw("}}")
	w.end("round")
}

func (w *Writer) plan(s *policy.Snapshot, p *policy.Plan) {
	if len(p.Jobs) != len(s.Jobs) {
		w.enc.fail(fmt.Errorf("round %d: %d decisions, want one for each of %d jobs", s.Round, len(p.Jobs), len(s.Jobs)))
		return
	}
	w.round++
	w.decisions(s.Jobs, p.Jobs)
	w.left(s.Jobs)
	if len(p.Prices) > 0 {
		w.enc.raw(`,"prices":`)
		w.enc.prices(p.Prices)
	}
	w.capacity(p.Capacity)
	if p.Refused != "" {
		w.enc.raw(`,"refused":`)
		w.enc.str(p.Refused)
	}
	if p.Stats != (policy.Stats{}) {
		w.enc.raw(`,"stats":`)
		w.enc.stats(&p.Stats)
	}
}

func (w *Writer) capacity(wants map[cluster.Group]int) {
	if maps.Equal(wants, w.wants) {
		return
	}
	w.wants = maps.Clone(wants)
	w.enc.raw(`,"capacity":`)
	w.enc.capacity(wants)
}

func (w *Writer) decisions(jobs []*policy.Job, plan []policy.Decision) {
	written := 0
	for i, j := range jobs {
		d, was := &plan[i], w.recorded[j.ID]
		if was == nil {
			was = &recordedDecision{}
			w.recorded[j.ID] = was
		} else if same(&was.Decision, d) {
			was.round = w.round
			continue
		}
		w.listItem(written, `,"jobs":[`)
		written++
		w.enc.raw(`{"id":`)
		w.enc.str(string(j.ID))
		w.enc.grant(&was.Decision, d)
		if d.Why != was.Why {
			w.enc.raw(`,"why":`)
			w.enc.reason(d.Why)
		}
		w.enc.raw("}")
		*was = recordedDecision{*d, w.round}
	}
	w.listEnd(written)
}

func same(a, b *policy.Decision) bool {
	return a.Allocation == b.Allocation && a.Batch == b.Batch && a.Why == b.Why && a.Placement.Equal(b.Placement)
}

func (w *Writer) left(jobs []*policy.Job) {
	gone := 0
	for _, id := range w.jobs {
		if w.recorded[id].round == w.round {
			continue
		}
		w.listItem(gone, `,"left":[`)
		gone++
		w.enc.str(string(id))
		delete(w.recorded, id)
	}
	w.listEnd(gone)
	w.jobs = slices.Grow(w.jobs[:0], len(jobs))
	for _, j := range jobs {
		w.jobs = append(w.jobs, j.ID)
	}
}

func (w *Writer) listItem(i int, opening string) {
	if i == 0 {
		w.enc.raw(opening)
		return
	}
	w.enc.raw(",")
}

func (w *Writer) listEnd(n int) {
	if n > 0 {
		w.enc.raw("]")
	}
}

func (w *Writer) begin(now time.Time) {
	at := now.Sub(w.start)
	if at < w.last {
		w.enc.fail(fmt.Errorf("time goes back from %v to %v", w.last, at))
	}
	w.last = at
	w.enc.buf = append(w.enc.buf[:0], `{"t":`...)
	w.enc.buf = appendSeconds(w.enc.buf, max(at, 0))
}

func (w *Writer) end(what string) {
	if w.err == nil && w.enc.err != nil {
		w.err = fmt.Errorf("journal: %s at %v: %w", what, w.last, w.enc.err)
	}
	if w.err != nil {
		return
	}
	w.enc.buf = w.chain.seal(w.enc.buf)
	w.size += int64(len(w.enc.buf))
	if _, err := w.w.Write(w.enc.buf); err != nil {
		w.err = fmt.Errorf("journal: write: %w", err)
	}
}

// Flush passes everything written so far to the underlying writer. It returns the first error since the Writer was
// made.
func (w *Writer) Flush() error {
	if w.err != nil {
		return w.err
	}
	if err := w.w.Flush(); err != nil {
		w.err = fmt.Errorf("journal: write: %w", err)
	}
	return w.err
}

// Close writes the end line and flushes, but does not close the underlying writer. Later events and rounds are
// ignored.
func (w *Writer) Close() error {
	if w.err == nil {
		w.begin(w.start.Add(w.last))
		w.enc.raw(`,"end":true}`)
		w.end("end")
	}
	err := w.Flush()
	if err == nil {
		w.err = errClosed
	}
	return err
}
