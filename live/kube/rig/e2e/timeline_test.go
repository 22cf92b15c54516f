package e2e

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// A timeline has what a handover waits for, in order: it says which part of it takes how long.
type timeline []moment

// A moment is a time at which something happened.
type moment struct {
	at   time.Time
	what string
}

// columns are what a timeline counts: leases that have another holder, writes of plans and of jobs, jobs that are
// no longer suspended, and pods that are made, let go to their nodes, and bound.
var columns = []string{"leases", "plans.oxgang.dev", "jobs", "started", "made", "pinned", "bound"}

func (l *timeline) add(at time.Time, what string) { *l = append(*l, moment{at, what}) }

// see adds a change, if it is one of a lease's holder, of a plan or of a job, or if a pod is made. What is
// let go and bound the tally knows.
func (l *timeline) see(c *audit.Change) {
	switch {
	case c.New == nil:
	case c.Key.Resource == "pods" && c.Old == nil:
		l.add(c.Time, "made")
	case c.Key.Resource == "leases" && holds(c.New) != holds(c.Old), c.Key.Resource == "plans.oxgang.dev", c.Key.Resource == "jobs":
		l.add(c.Time, c.Key.Resource)
	}
	if suspended(c.Old) && !suspended(c.New) && c.New != nil {
		l.add(c.Time, "started")
	}
}

// suspended reports whether an object is a job that is.
func suspended(o *audit.Object) bool {
	if o == nil {
		return false
	}
	j, is := o.Value.(*batchv1.Job)
	return is && j.Spec.Suspend != nil && *j.Spec.Suspend
}

// holds returns who holds a lease; empty: nobody, or it is none.
func holds(o *audit.Object) string {
	if o == nil {
		return ""
	}
	l, is := o.Value.(*coordinationv1.Lease)
	if !is || l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

// table is a line for each second after a time in which something happened.
func (l timeline) table(from time.Time) string {
	bySecond := map[int]map[string]int{}
	var seconds []int
	for _, m := range l {
		if m.at.Before(from) {
			continue
		}
		s := int(m.at.Sub(from) / time.Second)
		if bySecond[s] == nil {
			bySecond[s] = map[string]int{}
			seconds = append(seconds, s)
		}
		bySecond[s][m.what]++
	}
	slices.Sort(seconds)
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "s\t%s\t\n", strings.Join(columns, "\t"))
	for _, s := range seconds {
		fmt.Fprintf(w, "%d\t", s)
		for _, c := range columns {
			fmt.Fprintf(w, "%d\t", bySecond[s][c])
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush() // a strings.Builder takes all
	return text.String()
}
