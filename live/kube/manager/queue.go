package manager

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/live/kube"
	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/execute"
	"github.com/oxgang/oxgang/live/kube/inventory"
	"github.com/oxgang/oxgang/live/kube/jobadapter"
	"github.com/oxgang/oxgang/live/kube/jobstate"
	"github.com/oxgang/oxgang/live/kube/planstore"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/explain"
)

type queueController struct {
	l      *leader
	q      *v1alpha1.Queue
	common *v1alpha1.ClusterPolicy
	r      *running
}

// It returns an error only if this process must end.
func (c *queueController) serve(ctx context.Context) error {
	for wait := time.Second; ; wait = min(2*wait, time.Minute) {
		began := time.Now()
		err := c.run(ctx)
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
		c.l.log.Error("a queue is not served", "queue", c.q.Name, "err", err, "again_in", wait)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

func (c *queueController) run(ctx context.Context) error {
	d := driver.New(c.driverOptions())
	w, err := kube.Open(ctx, c.l.manager.GetClient(), c.l.manager.GetAPIReader(), c.backendOptions(d))
	if err != nil {
		return err
	}
	if err := d.Attach(w, w.Stopping); err != nil {
		return err
	}
	defer c.close(d)
	if b := c.q.Spec.Budget; b != nil {
		d.Monitor().Budget(perHour(b))
	}
	d.Monitor().Leading(true)
	defer d.Monitor().Leading(false)
	c.l.setBackend(c.r, w, d)
	defer c.l.setBackend(c.r, nil, nil)
	err = d.Run(ctx)
	if errors.Is(err, planstore.ErrFenced) {
		d.Monitor().Fenced()
	}
	return err
}

func (c *queueController) close(d *driver.Driver) {
	if err := d.Close(); err != nil {
		c.l.log.Warn("a journal is incomplete", "queue", c.q.Name, "journal", d.Journal(), "err", err)
	}
}

func (c *queueController) driverOptions() driver.Options {
	o := driver.Options{
		Queue: c.q.Name, Policy: c.q.Spec.Policy.Name, Settings: settings(c.q), Round: round(c.q), Verify: true, Tool: c.l.o.Tool,
		Digest: true, Predict: true, Metrics: c.l.metrics, Traces: c.l.o.Traces, Log: c.l.log,
	}
	if c.q.Spec.Mode == v1alpha1.Observe {
		o.Predict = false
	}
	if dir := c.l.o.Config.Journals; dir != "" {
		o.Journals = filepath.Join(dir, c.q.Name)
	}
	return o
}

// Programs report at least twice per round, so each round knows the result of the last.
func (c *queueController) backendOptions(d *driver.Driver) jobstate.Options {
	o := jobstate.DefaultOptions()
	o.Queue, o.Kinds, o.Identity, o.Log, o.Now = c.q, c.kinds(), c.l.o.Identity, c.l.log, time.Now
	o.Nodes = inventory.Options{GPUResource: c.common.Spec.GPUResource, TypeLabels: c.common.Spec.GPUTypeLabels, Selector: c.q.Spec.NodeSelector, Names: names(c.common), Queue: c.q.Name, Groups: c.q.Spec.NodeGroups, Tolerations: execute.Tolerations(c.q)}
	if c.q.Spec.Loans != nil {
		o.Nodes.Lender = c.q.Spec.Loans.NodeSelector
	}
	o.Turn, o.Kueue = &c.l.turn, func() bool { return c.l.serves(workloads) }
	o.Priority = c.l.classes.value
	o.Events = c.l.manager.GetEventRecorder("oxgang")
	o.Explain = func(s *policy.Snapshot, p *policy.Plan) jobstate.Reasons {
		why := explain.Now(s, p)
		why.Policy = c.q.Spec.Policy.Name
		return why
	}
	o.Inputs, o.Expect = d.Digest, func() map[job.ID]jobstate.Expected { return expected(d.Predictions()) }
	o.Report = min(o.Report, round(c.q)/2)
	return o
}

func (c *queueController) kinds() []jobadapter.Kind {
	spec := &c.common.Spec
	all := jobadapter.New(&jobadapter.Options{GPUResource: spec.GPUResource, TypeLabels: spec.GPUTypeLabels, Names: names(c.common), ElasticJobSets: spec.ElasticJobSets})
	return slices.DeleteFunc(all, func(k jobadapter.Kind) bool { return !slices.Contains(c.l.known, k.GVK()) })
}

func names(c *v1alpha1.ClusterPolicy) map[string]string {
	all := make(map[string]string, len(c.Spec.GPUTypes))
	for _, t := range c.Spec.GPUTypes {
		all[t.Product] = t.Name
	}
	return all
}

func round(q *v1alpha1.Queue) time.Duration {
	if q.Spec.Round == nil {
		return time.Minute
	}
	return q.Spec.Round.Duration
}
