// Package overview shows the scheduler of this machine on the live page: it is a page.Source over the API of
// commands (live/control) and over the journal that the scheduler writes.
package overview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/simulate/whatif"
)

// A Machine is the Source of a scheduler that runs. Its times count from 1970.
type Machine struct {
	client   *control.Client
	journals string // folder

	mu     sync.Mutex
	series *page.Series
	due    time.Time // when the journal may be read again
}

var (
	_ page.Source = (*Machine)(nil)
	_ page.Asker  = (*Machine)(nil)
	_ page.Actor  = (*Machine)(nil)
)

// New returns the Source of the scheduler that a client asks, which writes its journals to a folder.
func New(client *control.Client, journals string) *Machine {
	return &Machine{client: client, journals: journals}
}

// Live implements page.Source.
func (*Machine) Live() bool { return true }

// since1970 returns a time as an Overview has it; 0 for the zero time.
func since1970(t time.Time) journal.Seconds {
	if t.IsZero() {
		return 0
	}
	return journal.Seconds(t.Sub(time.Unix(0, 0)))
}

// Overview implements page.Source.
func (m *Machine) Overview(ctx context.Context, _ time.Duration) (*page.Overview, error) {
	top, err := m.client.Top(ctx)
	if err != nil {
		return nil, err
	}
	jobs, err := m.client.Jobs(ctx, true)
	if err != nil {
		return nil, err
	}
	return overviewOf(&top, jobs, time.Now()), nil
}

// mostEnded bounds how many ends an overview has.
const mostEnded = 20

func overviewOf(top *control.Top, jobs []control.View, now time.Time) *page.Overview {
	s := &explain.Overview{At: since1970(now), Last: since1970(now), Begun: time.Unix(0, 0).UTC(), Policy: top.Policy}
	s.Nodes, s.Types = []explain.OverviewNode{node(top)}, types(top)
	for i := range jobs {
		if v := &jobs[i]; v.Ended() {
			s.Ended = append(s.Ended, explain.OverviewEnd{Job: v.ID, At: since1970(v.Finished), Outcome: outcome(v), Detail: v.Detail})
		} else {
			s.Jobs = append(s.Jobs, jobOf(v, now))
		}
	}
	slices.SortStableFunc(s.Ended, func(a, b explain.OverviewEnd) int { return int(min(max(b.At-a.At, -1), 1)) })
	s.Ended = s.Ended[:min(len(s.Ended), mostEnded)]
	return &page.Overview{Overview: s, Title: top.Machine, Live: true, Banner: top.Banner}
}

// outcome returns the phase in which a job ended: a recording says "completed" of one that is "done".
func outcome(v *control.View) string {
	if v.Outcome == "done" {
		return job.Completed.String()
	}
	return v.Outcome
}

// node returns the machine, with its slots as GPUs.
func node(top *control.Top) explain.OverviewNode {
	n := explain.OverviewNode{ID: cluster.NodeID(top.Machine), GPUs: len(top.Slots)}
	for _, s := range top.Slots {
		n.Type = s.Type
		if s.Job == "" {
			continue
		}
		i := slices.IndexFunc(n.Held, func(h explain.OverviewHolder) bool { return h.Job == s.Job })
		if i < 0 {
			i = len(n.Held)
			n.Held = append(n.Held, explain.OverviewHolder{Job: s.Job})
		}
		n.Held[i].GPUs++
	}
	return n
}

func types(top *control.Top) []explain.TypeView {
	var all []explain.TypeView
	for _, s := range top.Slots {
		i := slices.IndexFunc(all, func(t explain.TypeView) bool { return t.Type == s.Type })
		if i < 0 {
			i = len(all)
			all = append(all, explain.TypeView{Type: s.Type})
		}
		all[i].GPUs++
		if s.Job == "" {
			all[i].Free++
		}
	}
	for i := range all {
		for _, p := range top.Prices {
			if p.Resource == string(all[i].Type) {
				all[i].Price = &p.Price
			}
		}
	}
	return all
}

func jobOf(v *control.View, now time.Time) explain.OverviewJob {
	j := explain.OverviewJob{
		ID: v.ID, Name: v.Name, Phase: v.Phase, Asked: fmt.Sprintf("%d to %d GPUs", v.MinGPUs, v.MaxGPUs), Submitted: since1970(v.Submitted), Since: since1970(v.Since),
		Reason: v.Reason, Sentence: v.Sentence, Restarts: v.Restarts, Progress: v.Progress, Target: v.Target, Trouble: v.Trouble,
		Start: expected(v.StartEarly, v.StartLikely, v.StartLate, now), End: expected(v.EndEarly, v.EndLikely, v.EndLate, now),
	}
	if v.MinGPUs == v.MaxGPUs {
		j.Asked = fmt.Sprintf("%d GPUs", v.MinGPUs)
	}
	if v.GPUs > 0 {
		j.Holds = &explain.Holding{Nodes: 1, GPUs: v.GPUs, Type: v.GPUType}
	}
	return j
}

// share is the probability with which the times of a View are between early and late.
const share = 0.8

// expected returns a range of times, from now on; nil if it is not known.
func expected(early, likely, late *time.Time, now time.Time) *explain.Expected {
	if early == nil || likely == nil {
		return nil
	}
	in := func(t *time.Time) journal.Seconds { return journal.Seconds(max(0, t.Sub(now).Round(time.Second))) }
	e := &explain.Expected{Early: in(early), Likely: in(likely), Share: share, Open: late == nil}
	if late != nil {
		e.Late = in(late)
	}
	return e
}

// Job implements page.Source.
func (m *Machine) Job(ctx context.Context, id job.ID, _ time.Duration) (*page.Job, error) {
	e, err := m.client.Explain(ctx, id)
	if err != nil {
		return nil, unknown(err)
	}
	j := &page.Job{Moment: e.Story}
	err = m.journal(func(r *journal.Reader) error {
		if j.Life, err = explain.Life(r, id); err == nil {
			j.Begun, j.Life.Note = r.Header().Start, "" // that it has no end yet is no news
		}
		return err
	})
	if _, absent := errors.AsType[*explain.UnknownJobError](err); absent { // an older journal has it
		err = nil
	}
	return j, err
}

// Asks implements page.Asker.
func (*Machine) Asks() bool { return true }

// Ask implements page.Asker. The scheduler answers from the state that its last round left.
func (m *Machine) Ask(ctx context.Context, q whatif.Question, _ time.Duration) (*whatif.Answer, error) {
	of := control.Question(q)
	text, err := m.client.Ask(ctx, &of)
	if err != nil {
		return nil, refused(err)
	}
	a := new(whatif.Answer)
	return a, json.Unmarshal(text, a)
}

// Cancel implements page.Actor, with the rights of who runs this program.
func (m *Machine) Cancel(ctx context.Context, id job.ID) error {
	return refused(m.client.Cancel(ctx, id))
}

// refused returns an error with which the page says what the scheduler said.
func refused(err error) error {
	e, ok := errors.AsType[*control.Error](err)
	if !ok || e.Status == http.StatusNotFound {
		return unknown(err)
	}
	return &page.RefusedError{Text: e.Message}
}

// unknown returns page.ErrUnknown in place of an error that says so.
func unknown(err error) error {
	if e, ok := errors.AsType[*control.Error](err); ok && e.Status == http.StatusNotFound {
		return fmt.Errorf("%s: %w", e.Message, page.ErrUnknown)
	}
	return err
}

// lines is how much of its output the page of a job has.
const lines = 50

// Log implements page.Source.
func (m *Machine) Log(ctx context.Context, id job.ID, w io.Writer) error {
	return unknown(m.client.Log(ctx, id, lines, false, w))
}

// seldom is how many times as long as it took a reading of the journal is not repeated: it takes a fiftieth of a
// core at most, however long the journal is.
const seldom = 50

// Series implements page.Source. It may be as old as seldom says.
func (m *Machine) Series(context.Context) (*page.Series, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.series != nil && time.Now().Before(m.due) {
		return m.series, nil
	}
	begun := time.Now()
	err := m.journal(func(r *journal.Reader) error {
		var err error
		m.series, err = page.SeriesOf(r)
		return err
	})
	m.due = time.Now().Add(seldom * time.Since(begun))
	return m.series, err
}

// journal reads the journal that is written now: the last one by name.
func (m *Machine) journal(read func(*journal.Reader) error) error {
	all, err := os.ReadDir(m.journals) // by name
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	all = slices.DeleteFunc(all, func(e os.DirEntry) bool { return filepath.Ext(e.Name()) != ".oxj" })
	if len(all) == 0 {
		return fmt.Errorf("no journal in %s: %w", m.journals, page.ErrUnknown)
	}
	f, err := os.Open(filepath.Join(m.journals, all[len(all)-1].Name()))
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	defer f.Close()
	r, err := journal.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return read(r)
}
