package slurmtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
)

func (s *Slurm) settle() {
	for {
		j, at := s.nextEnd()
		if j == nil || at.After(time.Now()) {
			break
		}
		s.advance(at)
		switch {
		case j.Noticed:
			s.requeue(j, "JobHeldUser")
			j.keep("JobHeldUser")
			j.Flags = []string{"REQUEUE_HOLD"}
		case j.Exit == 0:
			s.end(j, client.Completed, 0)
		default:
			s.end(j, client.Failure, j.Exit)
		}
		s.start(at)
	}
	s.advance(time.Now())
	s.start(time.Now())
}

const saving = 2 * time.Second

func (s *Slurm) nextEnd() (first *Job, at time.Time) {
	for _, j := range s.jobs {
		if j.State != client.Running {
			continue
		}
		end := j.since.Add(time.Duration(j.Work / float64(j.GPUs.Total()) * float64(time.Second)))
		if !j.Unlimited && j.Start.Add(j.Limit).Before(end) {
			end = j.Start.Add(j.Limit)
		}
		if j.Noticed {
			end = j.noticed.Add(saving)
		}
		if first == nil || end.Before(at) {
			first, at = j, end
		}
	}
	return first, at
}

func (s *Slurm) advance(to time.Time) {
	for _, j := range s.jobs {
		if j.State == client.Running && to.After(j.since) {
			if !j.Noticed {
				j.Work = max(0, j.Work-to.Sub(j.since).Seconds()*float64(j.GPUs.Total()))
			}
			j.since = to
		}
	}
}

func (s *Slurm) end(j *Job, state client.State, exit int) {
	j.State, j.ExitCode, j.End, j.Reason = state, exit, time.Now(), "None"
	j.Nodes, j.HeldGPUs = nil, nil
}

func (s *Slurm) requeue(j *Job, reason string) {
	j.State, j.Reason, j.Nodes, j.HeldGPUs = client.Pending, reason, nil, nil
	j.Restarts, j.Work, j.Noticed = j.Restarts+1, j.Saved, false
	j.earlier, j.Start = time.Now().Add(requeueDelay), time.Time{}
}

func (s *Slurm) start(now time.Time) {
	line := slices.Clone(s.jobs)
	slices.SortStableFunc(line, func(a, b *Job) int { return cmp.Compare(b.Priority, a.Priority) })
	for _, j := range line {
		if j.State != client.Pending || j.IsHeld() {
			continue
		}
		switch held := s.place(j); {
		case s.depends(j):
			j.Reason = "Dependency"
		case j.earlier.After(now):
			j.Reason = "BeginTime"
		case held == nil:
			j.Reason = "Resources"
		default:
			s.run(j, held, now)
		}
	}
}

func (s *Slurm) depends(j *Job) bool {
	var on client.ID
	if _, err := fmt.Sscanf(strings.TrimPrefix(j.Dependency, "afterany:"), "%d", &on); err != nil {
		return false
	}
	other := s.jobs[on-1]
	return other.Waits() || other.Holds()
}

func (s *Slurm) run(j *Job, held []client.Held, now time.Time) {
	j.State, j.Reason, j.Start, j.since, j.Flags = client.Running, "None", now, now, nil
	j.HeldGPUs, j.Nodes, j.GPUs = held, nil, client.GPUs{} // stale since an update
	for t, n := range j.PerNode {
		j.GPUs[t] = n * j.Needed
	}
	for _, h := range held {
		j.Nodes = append(j.Nodes, h.Node)
	}
	j.Starts = append(j.Starts, fmt.Sprintf("%d on %s", j.GPUs.Total(), strings.Join(j.Nodes, ",")))
	s.check()
}

func (s *Slurm) place(j *Job) []client.Held {
	free := s.free()
	var held []client.Held
	for i := range s.nodes {
		n := &s.nodes[i]
		t := n.GPUs.Types()[0]
		per := j.PerNode.Total()
		_, untyped := j.PerNode[""]
		_, fits := j.PerNode[t]
		wanted := len(j.ReqNodes) == 0 || slices.Contains(j.ReqNodes, n.Name)
		if len(held) < j.Needed && n.Usable() && wanted && (untyped || fits) && free[n.Name] >= per && slices.Contains(n.Partitions, j.Partition) {
			held = append(held, client.Held{Node: n.Name, GPUs: client.GPUs{t: per}})
		}
	}
	if len(held) < j.Needed {
		return nil
	}
	return held
}

func (s *Slurm) free() map[string]int {
	free := map[string]int{}
	for i := range s.nodes {
		free[s.nodes[i].Name] = s.nodes[i].GPUs.Total()
	}
	for _, j := range s.jobs {
		for _, h := range j.HeldGPUs {
			free[h.Node] -= h.GPUs.Total()
		}
	}
	return free
}

func (s *Slurm) check() {
	for node, n := range s.free() {
		if n < 0 {
			s.wrong = append(s.wrong, fmt.Sprintf("node %s: %d GPUs too many are held", node, -n))
		}
	}
}
