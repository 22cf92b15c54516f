package overview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/kube/view"
)

// count counts what a job has held until a look.
func (l *life) count(at time.Time) {
	if l.held != nil && at.After(l.last) {
		l.gpuTime += time.Duration(l.held.GPUs) * at.Sub(l.last)
	}
	l.last = at
}

// note says what is known of a life, and what of it the job has cost.
func (l *life) note() string {
	return fmt.Sprintf("Of its life, what was seen since this page was opened. Since %s it has held %.3g GPU-hours, as far as was seen.", l.begun.UTC().Format(clock), l.gpuTime.Hours())
}

// holders returns who has how many GPUs of each node; nil: not all pods are seen.
func holders(at *view.Look) map[string]map[string]int {
	if !at.Whole {
		return nil
	}
	all := make(map[string]map[string]int, len(at.Nodes))
	for i := range at.Nodes {
		of := make(map[string]int)
		for _, h := range at.Nodes[i].Held {
			of[h.Name] += h.GPUs
		}
		all[at.Nodes[i].Name] = of
	}
	return all
}

// takers says who has more GPUs than before on the nodes on which a job has fewer, and how many more; empty: nobody, or not all pods are
// seen. Some of these may have been idle before, so it does not say that they were the job's.
func (p *past) takers(at *view.Look, was []view.Share, s *view.Seen) string {
	now, more := holders(at), make(map[string]int)
	if p.held == nil || now == nil {
		return ""
	}
	for _, had := range was {
		i := slices.IndexFunc(s.Held, func(h view.Share) bool { return h.Name == had.Name })
		if i >= 0 && s.Held[i].GPUs >= had.GPUs {
			continue
		}
		for name, n := range now[had.Name] {
			if by := n - p.held[had.Name][name]; by > 0 {
				more[name] += by
			}
		}
	}
	var all []string
	for name, n := range more {
		all = append(all, fmt.Sprintf("%s %d", name, n))
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return "; more GPUs of its nodes than before: " + strings.Join(all, ", ")
}
