package view

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// ErrClocks is returned if the clocks of this machine and of slurmctld differ.
var ErrClocks = errors.New("clocks are apart")

// StatusOf converts the state of a Slurm cluster into a document for tables and pages. h may be nil; noHistory then
// states why there are no past runs.
func StatusOf(l *Look, h *History, noHistory string) *status.Status {
	s := &status.Status{Backend: status.Slurm, Title: "Slurm", At: l.At, Policy: "Slurm's own", GPUs: gpus(l), Nodes: nodes(l), Jobs: jobs(l.Jobs, l, h, noHistory)}
	if l.NoQOS != "" {
		s.Notes = append(s.Notes, "limits of QOS are unknown: "+l.NoQOS)
	}
	s.Fill()
	return s
}

func jobs(some []client.Job, l *Look, h *History, noHistory string) (all []status.Job) {
	for i := range some {
		j := &some[i]
		switch {
		case j.Holds():
			all = append(all, running(j, l.At, h, noHistory))
		case j.Waits():
			all = append(all, waiting(j, l))
		}
	}
	slices.SortStableFunc(all, order)
	return all
}

func order(a, b status.Job) int {
	wait := func(j *status.Job) int {
		if j.Phase == job.Waiting.String() {
			return 1
		}
		return 0
	}
	if c := cmp.Compare(wait(&a), wait(&b)); c != 0 || wait(&a) == 0 {
		return c
	}
	return cmp.Compare(b.Priority, a.Priority)
}

func jobOf(j *client.Job) status.Job {
	kind, n := strings.Join(named(j.GPUs), "+"), j.GPUs.Total()
	return status.Job{
		ID: job.ID(j.Label()), Name: j.Name, User: j.User, Account: j.Account, Queue: j.Partition, QOS: j.QOS, State: string(j.State), Phase: strings.ToLower(string(j.State)),
		Asked: strings.TrimSpace(printable.Count(n, "GPU") + " " + kind), MinGPUs: n, MaxGPUs: n, GPUType: cluster.GPUType(kind),
		Submitted: j.Submit, Started: startOf(j), Priority: int64(j.Priority),
	}
}

func named(g client.GPUs) []string {
	return slices.DeleteFunc(g.Types(), func(t string) bool { return t == "" })
}

func running(j *client.Job, now time.Time, h *History, noHistory string) status.Job {
	v := jobOf(j)
	v.GPUs, v.Since, v.Sentence, v.End = j.GPUs.Total(), v.Started, "Slurm started it", h.end(j, now, noHistory)
	for _, node := range j.Nodes {
		share := status.Share{Node: node}
		for _, held := range j.HeldGPUs {
			if held.Node == node {
				share.GPUs = held.GPUs.Total()
			}
		}
		v.Nodes = append(v.Nodes, share)
	}
	if mark, err := client.ParseMark(j.AdminComment); err == nil && mark.Silent {
		v.Trouble = silent
	}
	return v
}

const silent = "its program has sent no messages for long: it hangs, cannot reach Oxgang's scheduler, or does not use the client; see its output"

func gpus(l *Look) []status.GPUs {
	count := make(map[string]*status.GPUs)
	for i := range l.Nodes {
		n := &l.Nodes[i]
		for kind, many := range n.GPUs {
			t := count[kind]
			if t == nil {
				t = &status.GPUs{Type: cluster.GPUType(kind)}
				count[kind] = t
			}
			held := min(n.Used[kind], many)
			if len(n.GPUs) == 1 { // usage may be shown without the type
				held = min(n.Used.Total(), many)
			}
			t.Total, t.Held = t.Total+many, t.Held+held
			if reason, _ := l.closed(n); reason != "" {
				t.Unusable += many - held
			}
		}
	}
	var all []status.GPUs
	for _, t := range count {
		all = append(all, *t)
	}
	slices.SortFunc(all, func(a, b status.GPUs) int { return cmp.Compare(a.Type, b.Type) })
	return all
}
