package history

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/policy/kueue"
	"github.com/oxgang/oxgang/policy/multifactor"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/trace"
	"github.com/oxgang/oxgang/simulate/trace/slurm"
)

// An OwnPolicy is the policy that imitates the cluster's own scheduler, with its settings.
type OwnPolicy struct {
	settings []string        // of policies multifactor and kueue, as for --set
	slurm    *slurm.Settings // may be nil
	kueue    bool
	alone    []string // settings of the replay only
	called   string   // name of the policy with these; empty: its usual name
}

// WithSlurm returns policy multifactor with Slurm's settings s.
func WithSlurm(s *slurm.Settings) OwnPolicy {
	own := OwnPolicy{slurm: s}
	set := func(key string, v any) { own.settings = append(own.settings, fmt.Sprintf("multifactor.%s=%v", key, v)) }
	set("age", s.Age)
	set("max-age", s.MaxAge)
	set("calculated", s.Calculated)
	set("interval", s.Interval)
	set("window", s.Horizon)
	set("tests", s.Tests)
	set("depth", s.Depth)
	return own
}

// Learn derives settings of the policy from history h, and adds them to configuration c.
func (o *OwnPolicy) Learn(h *History, c *config.Config) error {
	if err := o.quotas(h.Recorded); err != nil {
		return err
	}
	o.asPhilly(h)
	c.Settings = append(slices.Clone(o.settings), c.Settings...)
	return nil
}

// asPhilly sets the policy that stands for Philly's scheduler: first in, first out with passing, on the recorded
// numbers of machines. Run times are unknown to it.
func (o *OwnPolicy) asPhilly(h *History) {
	if h.Recorded.Format == trace.PhillyFormat && h.Baseline == "fifo" {
		o.alone, o.called = []string{"fifo.backfill=true"}, "fifo with unrestricted backfilling"
	}
}

func (o *OwnPolicy) quotas(h *trace.History) error {
	if len(h.Quotas) == 0 {
		return nil
	}
	queues := make([]kueue.ClusterQueue, len(h.Quotas))
	for i := range h.Quotas {
		q := &h.Quotas[i]
		queues[i] = kueue.ClusterQueue{Name: q.Queue, Cohort: q.Cohort, Strict: q.Strict}
		for _, f := range q.Flavors {
			queues[i].Flavors = append(queues[i].Flavors, kueue.Flavor{Name: f.Flavor, Types: f.Types, Nominal: f.Nominal, Borrow: limit(f.Borrow), Lend: limit(f.Lend)})
		}
	}
	text := kueue.Format(queues)
	if _, err := kueue.ParseQueues(text); err != nil { // a name that has a meaning there
		return fmt.Errorf("queues of Kueue: %w", err)
	}
	o.kueue, o.settings = true, append(o.settings, "kueue.queues="+text)
	return nil
}

func limit(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}

func (o *OwnPolicy) unknown(h *History) []string {
	if h.Recorded.Format != slurm.Format || h.Baseline != "multifactor" {
		return nil
	}
	d := multifactor.DefaultOptions()
	if o.slurm == nil {
		return []string{fmt.Sprintf("Slurm's configuration is not known (--slurm-config): assumed backfilling every %s over %s, and priority by age in addition to the recorded one", printable.Short(d.Interval), printable.Short(d.Horizon))}
	}
	return o.slurm.Unlike
}
