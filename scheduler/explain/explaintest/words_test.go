package explaintest

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

var (
	wouldGet = regexp.MustCompile(`^(?:only a large change helps: )?(?:it would get|nothing needs to change: one of the next rounds should give it) (\d+) (\S+) GPUs?(?: on (\d+) nodes)?(?: and (\d+) (\S+) GPUs?)?(?: \(\d+ (?:is|are) free now\))?(?: if |$)`)
	ofOthers = regexp.MustCompile(`other jobs would get (\d+) (more|fewer)`)
	leftOver = regexp.MustCompile(`(\d+) more would be free`)
)

// refutes makes a change that is stated at a point, and returns what is false of its words; empty if nothing is.
func (r *run) refutes(t *testing.T, at point, c *stated) string {
	t.Helper()
	then := c.apply(r.all[at.round].s, at.job)
	plan := r.decide(t, at.round, then)
	if plan == nil {
		return "there is no plan with it"
	}
	gets := plan.Jobs[then.Index(at.job)].Allocation
	if gets.IsZero() {
		return "it gets no GPUs"
	}
	if m := wouldGet.FindStringSubmatch(c.text); m == nil || !promised(m, gets) {
		return fmt.Sprintf("%q, and it gets %v", c.text, gets)
	}
	return c.rest(gets.AllGPUs(), others(plan, at.job, then)-others(r.all[at.round].p, at.job, r.all[at.round].s))
}

// promised reports whether words promise what a job gets.
func promised(m []string, gets cluster.Allocation) bool {
	also := cluster.Configuration{GPUs: number(m[4]), GPUType: cluster.GPUType(m[5])}
	if m[4] != "" {
		also.Nodes = gets.Also.Nodes // the words do not say how many
	}
	return gets.Also == also && gets.Configuration == cluster.Configuration{Nodes: max(1, number(m[3])), GPUs: number(m[1]), GPUType: cluster.GPUType(m[2])}
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// others returns how many GPUs all other jobs have by a plan.
func others(p *policy.Plan, id job.ID, s *policy.Snapshot) (sum int) {
	for i, j := range s.Jobs {
		if j.ID != id {
			sum += p.Jobs[i].Allocation.AllGPUs()
		}
	}
	return sum
}

// rest returns what is false of what a change says of added GPUs that the job does not get; empty if nothing is. Other jobs have so
// many more by it, or fewer.
func (c *stated) rest(gets, more int) string {
	if c.Kind != "more GPUs" {
		return ""
	}
	saidMore, saidFree := 0, 0
	if m := ofOthers.FindStringSubmatch(c.text); m != nil {
		saidMore = number(m[1]) * map[string]int{"more": 1, "fewer": -1}[m[2]]
	}
	if m := leftOver.FindStringSubmatch(c.text); m != nil {
		saidFree = number(m[1])
	}
	free := c.GPUs - gets - more
	if free < 0 || c.GPUs <= gets { // nothing is said where none is left
		free = 0
	}
	if c.GPUs > gets && saidMore != more || saidFree != free {
		return fmt.Sprintf("%q: other jobs get %d more, and %d are left", c.text, more, free)
	}
	return ""
}
