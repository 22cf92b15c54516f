package manager

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/api/v1alpha1"
	"github.com/oxgang/oxgang/explain"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/monitor"
	"github.com/oxgang/oxgang/live/record"
	"github.com/oxgang/oxgang/placement"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/builtin"
	"github.com/oxgang/oxgang/policy/fallback"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/whatif"
)

// A desk serves one queue.
type desk struct {
	l      *leader
	q      *v1alpha1.Queue
	common *v1alpha1.ClusterPolicy
	r      *running
}

// serve runs the queue until ctx is done, and returns nil; anew whenever it fails, later each
// time, unless this process is to end: then it returns why.
func (d *desk) serve(ctx context.Context) error {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		began := time.Now()
		err := d.run(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was stopped
		case final(err):
			return err
		case errors.Is(err, kube.ErrTypes):
			continue
		}
		if time.Since(began) > time.Minute {
			wait = time.Second
		}
		d.l.log.Error("a queue is not served", "queue", d.q.Name, "err", err, "again_in", wait)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// run serves the queue once.
func (d *desk) run(ctx context.Context) error {
	inputs, ahead := &digest{}, newOutlook(d.l.log, d.q)
	o := d.options(inputs, ahead)
	w, err := kube.Open(ctx, d.l.manager.GetClient(), d.l.manager.GetAPIReader(), o)
	if err != nil {
		return err
	}
	p, placer, err := fresh(d.q)
	if err != nil {
		return err
	}
	last, err := fallback.New(p, fallback.DefaultOptions(round(d.q)))
	if err != nil {
		return err
	}
	seen, watch := d.monitor(last, w)
	seen.Leading(true)
	defer seen.Leading(false)
	s, err := scheduler.New(watch.Policy(last), watch.Placer(placer), w.Cluster(), d.schedulerOptions())
	if err != nil {
		return err
	}
	w.Follow(func(now time.Time) []*policy.Job { return s.Snapshot(now).Jobs })
	h := d.header(w)
	inputs.begin(h)
	observers := []scheduler.Observer{watch, seen, inputs, w}
	if d.writes() {
		l := whatif.NewPredictor(func() (policy.Policy, placement.Placer, error) { return fresh(d.q) }, d.schedulerOptions(), w.Cluster().Types())
		l.Explained = seen.Explained
		ahead.begin(l)
		observers = append(observers, ahead)
	}
	rec, err := d.journal(h)
	if err != nil {
		return err
	}
	if rec != nil {
		defer d.close(rec)
		observers = append(observers, rec)
	}
	d.l.enter(d.r, w)
	defer d.l.enter(d.r, nil)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return ahead.run(ctx) })
	g.Go(func() error { return w.Execute(ctx) })
	g.Go(func() error { return s.Run(ctx, watch.Backend(w), observers...) })
	err = g.Wait()
	if errors.Is(err, kube.ErrFenced) {
		seen.Fenced()
	}
	return err
}

// monitor returns what shows people the rounds of a run. Its metrics go on from those of earlier
// runs: they are forgotten when the queue is no longer served.
func (d *desk) monitor(last *fallback.Policy, w *kube.World) (*monitor.Queue, *monitor.Watch) {
	seen := d.l.metrics.Queue(d.q.Name, round(d.q), monitor.Source{Fallback: last.State, Stopping: w.Stopping})
	if b := d.q.Spec.Budget; b != nil {
		seen.Budget(perHour(b))
	}
	tell := []func(*monitor.Timing){seen.Timed, monitor.Log(d.l.log, d.q.Name)}
	if d.l.o.Traces != nil {
		tell = append(tell, monitor.Spans(d.l.o.Traces, d.q.Name))
	}
	return seen, monitor.NewWatch(tell...)
}

// writes reports whether plans of the queue are written: only then somebody sees what is
// expected of its jobs.
func (d *desk) writes() bool { return d.q.Spec.Mode != v1alpha1.Observe }

// journal begins the journal of a run, in the directory of its queue; nil: none is wanted.
func (d *desk) journal(h journal.Header) (*record.Recorder, error) {
	if d.l.o.Config.Journals == "" {
		return nil, nil
	}
	dir := filepath.Join(d.l.o.Config.Journals, d.q.Name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("journals: %w", err)
	}
	return record.New(dir, h)
}

// close ends the journal of a run, and says so if something is missing there.
func (d *desk) close(rec *record.Recorder) {
	if err := rec.Close(); err != nil {
		d.l.log.Warn("a journal could not be written to its end", "queue", d.q.Name, "journal", rec.Path, "err", err)
	}
}

// options are those of the queue's world. Its agents report twice in a round, at least: so each
// round knows what became of the one before, and a checkpoint is no older than that.
func (d *desk) options(inputs *digest, ahead *outlook) kube.Options {
	o := kube.DefaultOptions()
	o.Queue, o.Kinds, o.Identity, o.Log = d.q, d.kinds(), d.l.o.Identity, d.l.log
	o.Nodes = inventory.Options{GPUResource: d.common.Spec.GPUResource, TypeLabels: d.common.Spec.GPUTypeLabels, Selector: d.q.Spec.NodeSelector, Names: names(d.common), Queue: d.q.Name, Groups: d.q.Spec.NodeGroups, Tolerations: kube.Tolerations(d.q)}
	if d.q.Spec.Loans != nil {
		o.Nodes.Lender = d.q.Spec.Loans.NodeSelector
	}
	o.Events = d.l.manager.GetEventRecorder("oxgang")
	o.Explain = because
	o.Inputs, o.Expect = inputs.sum, ahead.expected
	o.Report = min(o.Report, round(d.q)/2)
	return o
}

// kinds returns the kinds of job that the cluster has, with GPUs called as it calls them.
func (d *desk) kinds() []jobadapter.Kind {
	c := &d.common.Spec
	all := jobadapter.New(&jobadapter.Options{GPUResource: c.GPUResource, TypeLabels: c.GPUTypeLabels, Names: names(d.common)})
	return slices.DeleteFunc(all, func(k jobadapter.Kind) bool { return !slices.Contains(d.l.known, k.GVK()) })
}

// names returns what values of the labels of GPU types are called.
func names(c *v1alpha1.ClusterPolicy) map[string]string {
	all := make(map[string]string, len(c.Spec.GPUTypes))
	for _, t := range c.Spec.GPUTypes {
		all[t.Product] = t.Name
	}
	return all
}

// because says why each job has what a plan gives it.
func because(s *policy.Snapshot, p *policy.Plan) map[job.ID]kube.Because {
	all := make(map[job.ID]kube.Because, len(s.Jobs))
	for id, why := range explain.Now(s, p) {
		all[id] = kube.Because{Reason: why.Reason, Message: why.Text}
	}
	return all
}

// round returns the time between plans of a queue.
func round(q *v1alpha1.Queue) time.Duration {
	if q.Spec.Round == nil {
		return time.Minute
	}
	return q.Spec.Round.Duration
}

// schedulerOptions: jobs are profiled while they train, and those of a class learn together.
func (d *desk) schedulerOptions() scheduler.Options {
	so := scheduler.DefaultOptions()
	so.Round, so.Profile, so.Estimate.Share, so.Estimate.Verify = round(d.q), false, true, true
	if entry, err := builtin.Find(d.q.Spec.Policy.Name); err == nil {
		so.Classes = entry.Traits().Classes
	}
	return so
}

// fresh makes the policy of a queue and its placer anew.
func fresh(q *v1alpha1.Queue) (policy.Policy, placement.Placer, error) {
	entry, err := builtin.Find(q.Spec.Policy.Name)
	if err != nil {
		return nil, nil, err
	}
	p, err := builtin.New(q.Spec.Policy.Name, settings(q))
	if err != nil {
		return nil, nil, err
	}
	placer, err := entry.NewPlacer("", builtin.PlacerOptions{})
	return p, placer, err
}

// header says of which run a journal is, with what a replay has to know of its scheduler.
func (d *desk) header(w *kube.World) journal.Header {
	h := journal.Header{
		Tool: d.l.o.Tool, Policy: d.q.Spec.Policy.Name, Seed: 1, Start: w.Now(), Round: round(d.q), Cluster: w.Cluster(),
		Settings: []journal.Setting{{Name: "scheduler.profile", Value: "false"}, {Name: "estimate.share", Value: "true"}, {Name: "estimate.verify", Value: "true"}},
	}
	if entry, err := builtin.Find(d.q.Spec.Policy.Name); err == nil {
		for _, name := range entry.SettingNames() {
			if value, set := settings(d.q)[name]; set {
				h.Settings = append(h.Settings, journal.Setting{Name: name, Value: value})
			}
		}
	}
	return h
}

// A digest is the SHA-256 of the journal so far: all that the scheduler was told and decided.
type digest struct {
	mu sync.Mutex
	h  hash.Hash
	w  *journal.Writer
}

func (d *digest) begin(h journal.Header) {
	d.h = sha256.New()
	d.w = journal.NewWriter(d.h, h)
}

// Event implements scheduler.Observer.
func (d *digest) Event(now time.Time, ev scheduler.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.w.Event(now, ev)
}

// Round implements scheduler.Observer.
func (d *digest) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.w.Round(s, p, acts)
}

// sum returns the digest in hexadecimal.
func (d *digest) sum() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	_ = d.w.Flush() // a hash takes everything
	return hex.EncodeToString(d.h.Sum(nil))
}
