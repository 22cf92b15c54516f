// Package overview shows a Slurm on the live page: it is a page.Source over Slurm's commands. It writes nothing.
package overview

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/oxgang/oxgang/live/page"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/view"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// A Slurm is the Source of a Slurm that runs. It asks as often as a client.Pace allows, however many look at the page
// and however often. Its times count from 1970.
type Slurm struct {
	client *client.Client
	title  string
	past   *view.History
	noPast string // why there is no past

	mu     sync.Mutex
	pace   *client.Pace
	look   *view.Look
	report *view.Report
	failed error     // of the last look
	due    time.Time // of the next look
	series page.Series
}

var _ page.Source = (*Slurm)(nil)

// mostPoints is how many looks a series has: the earlier half goes when there are more.
const mostPoints = 20_000

// New returns the Source of the Slurm that a client asks. Past runs may be nil, for the reason noPast.
func New(c *client.Client, title string, past *view.History, noPast string) *Slurm {
	return &Slurm{client: c, title: title, past: past, noPast: noPast, pace: client.DefaultPace()}
}

// month is how far back past runs tell when jobs end.
const month = 30 * 24 * time.Hour

// Open returns the Source of the Slurm of the commands in the user's path, once it answers.
func Open(ctx context.Context) (*Slurm, error) {
	c, none := &client.Client{Run: client.Limited(client.Exec, client.DefaultPerMinute)}, ""
	runs, err := c.Accounting(ctx, time.Now().Add(-month))
	past := view.HistoryOf(runs)
	if err != nil {
		past, none = nil, "past runs are not known: "+err.Error()
	}
	s := New(c, "Slurm", past, none)
	_, err = s.Overview(ctx, 0)
	return s, err
}

// Live implements page.Source.
func (*Slurm) Live() bool { return true }

// since1970 returns a time as an Overview has it; 0 for the zero time.
func since1970(t time.Time) journal.Seconds {
	if t.IsZero() {
		return 0
	}
	return journal.Seconds(t.Sub(time.Unix(0, 0)))
}

// refresh asks Slurm if it is time. An error is one only where nothing was ever seen; the caller has the lock.
func (s *Slurm) refresh(ctx context.Context) error {
	now := time.Now()
	if now.Before(s.due) {
		return nil
	}
	look, err := view.Take(ctx, s.client, time.Now)
	changed := err == nil && (s.look == nil || !reflect.DeepEqual(look.Jobs, s.look.Jobs) || !reflect.DeepEqual(look.Nodes, s.look.Nodes))
	s.due = time.Now().Add(s.pace.Next(time.Since(now), changed))
	if s.failed = err; err != nil {
		if s.look == nil {
			s.due = time.Time{}
			return err
		}
		return nil
	}
	s.look, s.report = look, view.ReportOf(look, s.past, s.noPast)
	s.point()
	return nil
}

// point adds what is held and who waits to the series.
func (s *Slurm) point() {
	gpus, held, waiting, running := 0, 0, 0, 0
	for i := range s.report.Types {
		gpus, held = gpus+s.report.Types[i].GPUs, held+s.report.Types[i].Held
	}
	for i := range s.report.Jobs {
		if s.report.Jobs[i].State == string(client.Pending) {
			waiting++
		} else {
			running++
		}
	}
	v := &s.series
	if n := len(v.At); n >= mostPoints {
		for _, all := range []*[]int{&v.GPUs, &v.Held, &v.Waiting, &v.Running} {
			*all = append([]int(nil), (*all)[n/2:]...)
		}
		v.At = append([]journal.Seconds(nil), v.At[n/2:]...)
	}
	if v.Begun.IsZero() {
		v.Begun = s.report.At
	}
	v.At = append(v.At, journal.Seconds(s.report.At.Sub(v.Begun)))
	v.GPUs, v.Held, v.Waiting, v.Running = append(v.GPUs, gpus), append(v.Held, held), append(v.Waiting, waiting), append(v.Running, running)
}

// Overview implements page.Source.
func (s *Slurm) Overview(ctx context.Context, _ time.Duration) (*page.Overview, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	o := &page.Overview{Overview: overviewOf(s.look, s.report), Title: s.title, Live: true, Banner: strings.Join(s.report.Notes, "; ")}
	if s.failed != nil {
		o.Banner = fmt.Sprintf("Slurm has not answered since %s: %v", s.report.At.Format(time.TimeOnly), s.failed)
	}
	return o, nil
}

// overviewOf returns what a report says, as the page shows it.
func overviewOf(l *view.Look, r *view.Report) *explain.Overview {
	o := &explain.Overview{At: since1970(r.At), Last: since1970(r.At), Begun: time.Unix(0, 0).UTC(), Policy: "Slurm's own"}
	for _, t := range r.Types {
		o.Types = append(o.Types, explain.TypeView{Type: cluster.GPUType(t.Name), GPUs: t.GPUs - t.Down, Free: t.GPUs - t.Held - t.Down})
	}
	held := make(map[string][]explain.OverviewHolder)
	for i := range l.Jobs {
		for _, h := range l.Jobs[i].HeldGPUs {
			held[h.Node] = append(held[h.Node], explain.OverviewHolder{Job: job.ID(l.Jobs[i].Label()), GPUs: h.GPUs.Total()})
		}
	}
	for i := range l.Nodes {
		if n := &l.Nodes[i]; n.GPUs.Total() > 0 {
			o.Nodes = append(o.Nodes, explain.OverviewNode{
				ID: cluster.NodeID(n.Name), Type: cluster.GPUType(strings.Join(n.GPUs.Types(), "+")), GPUs: n.GPUs.Total(), Held: held[n.Name],
			})
		}
	}
	for i := range r.Jobs {
		o.Jobs = append(o.Jobs, jobOf(&r.Jobs[i]))
	}
	return o
}

// jobOf returns a job of a report.
func jobOf(v *view.Job) explain.OverviewJob {
	j := explain.OverviewJob{
		ID: job.ID(v.ID), Name: v.Name, Phase: job.Running.String(), Asked: strings.TrimSpace(fmt.Sprintf("%d GPUs %s", v.GPUs, v.Type)),
		Submitted: since1970(v.Submitted), Since: since1970(v.Submitted), Reason: v.Code, Sentence: v.Why,
	}
	if v.State == string(client.Pending) {
		j.Phase, j.Start = job.Waiting.String(), expected(v.Start)
		return j
	}
	j.Since, j.Sentence = since1970(v.Started), "Slurm started it"
	j.Holds, j.End = &explain.Holding{Nodes: len(v.Nodes), GPUs: v.GPUs, Type: cluster.GPUType(v.Type)}, expected(v.End)
	return j
}

// expected returns an ETA in words, because none is a range of a stated probability: the page puts "not known" before them.
func expected(e view.ETA) *explain.Expected {
	at := func(t time.Time) string { return t.UTC().Format("02 Jan 15:04 UTC") }
	switch {
	case !e.Early.IsZero():
		return &explain.Expected{Unknown: fmt.Sprintf("with what probability; %s to %s by %s", at(e.Early), at(e.Late), e.From)}
	case !e.Late.IsZero():
		return &explain.Expected{Unknown: fmt.Sprintf("as a range; %s: %s", at(e.Late), e.From)}
	}
	return &explain.Expected{Unknown: strings.TrimPrefix(e.From, "not known: ")}
}

// Job implements page.Source, the present, as Slurm keeps no record of decisions.
func (s *Slurm) Job(ctx context.Context, id job.ID, _ time.Duration) (*page.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	for i := range s.report.Jobs {
		if v := &s.report.Jobs[i]; v.ID == string(id) {
			return moment(v, s.report.At)
		}
	}
	return nil, fmt.Errorf("job %s: %w", id, page.ErrUnknown)
}

// moment returns the state of a job, as the page of a job shows it.
func moment(v *view.Job, now time.Time) (*page.Job, error) {
	j := jobOf(v)
	story := explain.Story{Job: j.ID, Policy: "Slurm's own", Asked: j.Asked, Moment: &explain.Moment{
		At: since1970(now), Phase: j.Phase, Since: &j.Since, Holds: j.Holds, Reason: j.Reason, Sentence: j.Sentence, Unblock: v.Unblock,
		Start: j.Start, End: j.End,
	}}
	text, err := json.Marshal(&story)
	return &page.Job{Begun: time.Unix(0, 0).UTC(), Moment: text}, err
}

// Log implements page.Source, the output of a job is a file of its user.
func (*Slurm) Log(context.Context, job.ID, io.Writer) error { return page.ErrUnknown }

// Series implements page.Source, since this program began to look.
func (s *Slurm) Series(context.Context) (*page.Series, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.series
	v.At, v.GPUs, v.Held = append([]journal.Seconds(nil), v.At...), append([]int(nil), v.GPUs...), append([]int(nil), v.Held...)
	v.Waiting, v.Running = append([]int(nil), v.Waiting...), append([]int(nil), v.Running...)
	return &v, nil
}
