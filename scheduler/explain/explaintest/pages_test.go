package explaintest

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler/explain"
	"github.com/oxgang/oxgang/scheduler/journal"
)

// page returns the page of a job in a round, with what would unblock it.
func (r *run) page(t *testing.T, at point, c *stated) string {
	t.Helper()
	j, err := journal.NewReader(bytes.NewReader(r.journal))
	if err != nil {
		t.Fatal(err)
	}
	s, err := explain.At(j, at.job, r.all[at.round].s.Now.Sub(j.Header().Start))
	if err != nil {
		t.Fatal(err)
	}
	s.Moment.Unblock, s.Moment.Next, s.Moment.NextAt = c.text, "", nil
	var out strings.Builder
	if err := errors.Join(s.WriteText(&out), s.WriteDetails(&out)); err != nil {
		t.Fatal(err)
	}
	return asGPUs(out.String())
}

// A fact is a pattern of numbers on a page, and what is true of them.
type fact struct {
	found *regexp.Regexp
	right func(x *round, id job.ID, m []string) bool
}

// free returns how many GPUs of a type are free after a round, and how many there are: nodes that it gives back have gone.
func (x *round) free(t string) (free, all int) {
	for _, n := range x.nodes.Nodes() {
		if string(n.GPUType) == t && !slices.Contains(x.p.Return, n.ID) {
			all += n.Capacity.GPUs
		}
	}
	free = all
	for i := range x.p.Jobs {
		a := &x.p.Jobs[i].Allocation
		for _, c := range []cluster.Configuration{a.Configuration, a.Also} {
			if string(c.GPUType) == t {
				free -= c.GPUs
			}
		}
	}
	return free, all
}

// count returns how many jobs have GPUs after a round, and how many do not.
func (x *round) count() (hold, wait int) {
	for i := range x.p.Jobs {
		if x.p.Jobs[i].Allocation.IsZero() {
			wait++
		} else {
			hold++
		}
	}
	return hold, wait
}

// listed returns the jobs in "a, b, c and 4 more", and how many these are.
func listed(text string) (names []job.ID, all int) {
	rest := 0
	if m := regexp.MustCompile(` and (\d+) more$`).FindStringSubmatch(text); m != nil {
		text, rest = strings.TrimSuffix(text, m[0]), number(m[1])
	}
	for name := range strings.SplitSeq(strings.ReplaceAll(text, " and ", ", "), ", ") {
		names = append(names, job.ID(name))
	}
	return names, len(names) + rest
}

// wait reports whether all of some jobs have no GPUs after a round.
func (x *round) wait(names []job.ID) bool {
	return !slices.ContainsFunc(names, func(id job.ID) bool {
		at := x.s.Index(id)
		return at < 0 || !x.p.Jobs[at].Allocation.IsZero()
	})
}

// hold returns how many jobs have GPUs of a type after a round; -1 if one of some jobs has none.
func (x *round) hold(names []job.ID, t string) (all int) {
	for i, j := range x.s.Jobs {
		a := &x.p.Jobs[i].Allocation
		holds := string(a.GPUType) == t || a.Mixed() && string(a.Also.GPUType) == t
		switch {
		case holds:
			all++
		case slices.Contains(names, j.ID):
			return -1
		}
	}
	return all
}

func seconds(text string) int {
	d, _ := time.ParseDuration(text)
	return int(d / time.Second)
}

// spans reports whether a length of time is so many seconds, in the two units in which it is written, each rounded down.
func spans(text string, n int) bool {
	unit := map[bool]int{true: 1, false: 60}[strings.HasSuffix(text, "s")]
	return seconds(text) == n/unit*unit
}

// each returns how many GPUs of a type do the work of one that a job counts.
func each(j *policy.Job, of string) int { return max(1, j.Equivalents[cluster.GPUType(of)]) }

// facts are what a page of a job that waits says of the round.
var facts = []fact{
	{regexp.MustCompile(`[ ,] *(\d+) of (\d+) (\S+) GPUs? free`), func(x *round, _ job.ID, m []string) bool {
		free, all := x.free(m[3])
		return number(m[1]) == free && number(m[2]) == all
	}},
	{regexp.MustCompile(`(\d+) jobs? runs?, (\d+) waits?`), func(x *round, _ job.ID, m []string) bool {
		hold, wait := x.count()
		return number(m[1]) == hold && number(m[2]) == wait
	}},
	{regexp.MustCompile(`\d+ (\S+) GPUs?(?: on \d+ nodes)?(?:, as many as it requested)?, and (none|\d+) (?:is|are) free`), func(x *round, _ job.ID, m []string) bool {
		free, _ := x.free(m[1])
		return number(m[2]) == free
	}},
	{regexp.MustCompile(`(\d+) jobs? (?:is|are) ahead of it`), func(x *round, _ job.ID, m []string) bool {
		_, wait := x.count()
		return number(m[1]) >= 1 && number(m[1]) < wait
	}},
	{regexp.MustCompile(`(\d+) jobs? (?:is|are) ahead of it in the queue \(([^)]*)\)`), func(x *round, id job.ID, m []string) bool {
		names, all := listed(m[2])
		return all == number(m[1]) && x.wait(names) && !slices.Contains(names, id)
	}},
	{regexp.MustCompile(`under (?:fifo|easy)\n\n.* (\d+) jobs? (?:is|are) ahead of it`), func(x *round, id job.ID, m []string) bool {
		earlier, no := 0, 0 // later; what cannot run on the cluster, was granted GPUs, or is not in the queue yet, is not ahead of anybody
		for i, j := range x.s.Jobs {
			if by := j.Submitted.Compare(x.s.Job(id).Submitted); by < 0 && x.p.Jobs[i].Allocation.IsZero() && !slices.Contains([]policy.Kind{policy.Impossible, policy.Evicted, policy.WaitProfile}, x.p.Jobs[i].Why.Kind) {
				earlier, no = earlier+1, no+1
			} else if by == 0 && j.ID != id {
				no++
			}
		}
		return number(m[1]) >= earlier && number(m[1]) <= no
	}},
	{regexp.MustCompile(`ahead of it in the queue[^\n]*`), func(x *round, _ job.ID, m []string) bool {
		scattered := slices.ContainsFunc(x.p.Jobs, func(d policy.Decision) bool { return d.Why.Kind == policy.Evicted && d.Allocation.IsZero() })
		return scattered == strings.Contains(m[0], "on too many nodes for")
	}},
	{regexp.MustCompile(`(\d+) jobs? that gains? more from \S+ GPUs comes? first \(([^)]*)\)`), func(x *round, id job.ID, m []string) bool {
		names, all := listed(m[2])
		return all == number(m[1]) && x.wait(names) && !slices.Contains(names, id)
	}},
	{regexp.MustCompile(`(?:all|the|other) (\d*) ?(\S+) GPUs? (?:is|are) held by [^(;\n]*\(([^)]*)\)`), func(x *round, id job.ID, m []string) bool {
		names, all := listed(m[3])
		free, total := x.free(m[2])
		return max(1, number(m[1])) == total-free && x.hold(names, m[2]) == all && !slices.Contains(names, id)
	}},
	{regexp.MustCompile(`cannot be preempted \(([^)]*)\)`), func(x *round, id job.ID, m []string) bool {
		names, _ := listed(m[1])
		return slices.ContainsFunc(names, func(id job.ID) bool { return x.s.Job(id).NonPreemptive || !x.s.Job(id).Reservation.IsZero() })
	}},
	{regexp.MustCompile(`; (\S+ (?:started on|moved to|got) \d+ of them[^\n]*)`), func(x *round, id job.ID, m []string) bool {
		names := strings.Split(m[1], ", ")
		for i := range names {
			names[i], _, _ = strings.Cut(names[i], " ")
		}
		slices.Sort(names)
		return len(slices.Compact(names)) == len(names)
	}},
	{regexp.MustCompile(`of one type[^;.\n]*, and (?:no type has more than (\d+) free|none is free)`), func(x *round, id job.ID, m []string) bool {
		most := 0
		for _, t := range x.s.Cluster.Types() {
			if free, _ := x.free(string(t.Type)); x.s.Job(id).Eligible(t.Type) {
				most = max(most, free)
			}
		}
		return number(m[1]) == most
	}},
	{regexp.MustCompile(`; (\d+) (\S+) GPUs? (?:is|are) free, but the jobs? ahead of it comes? first`), func(x *round, id job.ID, m []string) bool {
		free, _ := x.free(m[2])
		return number(m[1]) == free && free >= least(x.s.Job(id).Spec) && x.s.Job(id).Eligible(cluster.GPUType(m[2]))
	}},
	{regexp.MustCompile(`(\d+) jobs? (?:is|are) ahead of it(?s:.*)\D(\d+) of the (\d+) jobs ahead of it`), func(_ *round, _ job.ID, m []string) bool {
		return number(m[2]) >= 1 && number(m[2]) < number(m[3]) && m[3] == m[1]
	}},
	{regexp.MustCompile(`(\d+) jobs? (?:is|are) ahead of it(?s:.*)\n  unblock .*all (\d+) jobs ahead of it`), func(_ *round, _ job.ID, m []string) bool {
		return m[2] == m[1]
	}},
	{regexp.MustCompile(`(\d+) jobs? (?:is|are) ahead of it(?s:.*)\n  unblock .*the only job ahead of it`), func(_ *round, _ job.ID, m []string) bool {
		return m[1] == "1"
	}},
	{regexp.MustCompile(`(?:jobs? ahead of it|other waiting jobs?) \(([^)]*)\)`), func(x *round, id job.ID, m []string) bool {
		names, _ := listed(m[1])
		return x.wait(names) && !slices.Contains(names, id)
	}},
	{regexp.MustCompile(`(?:(\d+) of the|all|both|the only)(?: (\d+))? running jobs? \(([^)]*)\)`), func(x *round, id job.ID, m []string) bool {
		names, all := listed(m[3])
		hold, _ := x.count()
		right := all == hold
		if m[1] != "" {
			right = all == number(m[1]) && number(m[2]) == hold
		}
		return right && !slices.ContainsFunc(names, func(other job.ID) bool {
			return other == id || x.wait([]job.ID{other})
		})
	}},
	{regexp.MustCompile(`(\d+) of the (\d+) other waiting jobs`), func(x *round, _ job.ID, m []string) bool {
		_, wait := x.count()
		return number(m[1]) < number(m[2]) && number(m[2]) == wait-1
	}},
	{regexp.MustCompile(`it would get (\d+) (\S+) GPUs?[^\n(]* \((\d+) (?:is|are) free now\)`), func(x *round, _ job.ID, m []string) bool {
		free, _ := x.free(m[2])
		return number(m[3]) == free && free < number(m[1])
	}},
	{regexp.MustCompile(`if jobs? ([^\n]*?) ended`), func(x *round, id job.ID, m []string) bool {
		names, _ := listed(m[1])
		return !slices.ContainsFunc(names, func(other job.ID) bool { return other == id || x.s.Job(other) == nil })
	}},
	{regexp.MustCompile(`\n\n.* (?:has been waiting|was preempted) (\S+?)(?: ago)?:(?s:.*)\n  at +(\S+) after .*(?s:.*)\n  since +([^\s,]+), (\S+) ago\n`), func(_ *round, _ job.ID, m []string) bool {
		return spans(m[1], seconds(m[2])-seconds(m[3])) && m[4] == m[1]
	}},
	{regexp.MustCompile(`needs (?:at least )?(\d+)(?: \S+)? GPUs?[^;]* (?:and|but) (\d+) are free`), func(_ *round, _ job.ID, m []string) bool {
		return number(m[2]) < number(m[1])
	}},
	{regexp.MustCompile(`needs (?:at least )?(\d+) (?:(\S+) )?GPUs?(?s:.*)asked +exactly (\d+) GPU`), func(x *round, id job.ID, m []string) bool {
		return number(m[1]) == number(m[3])*each(x.s.Job(id), m[2])
	}},
	{regexp.MustCompile(`(starts it only with|offers it no fewer than) (?:all )?(\d+) (?:(\S+) )?GPUs?(?s:.*)asked +[^\n(]*\((\d+) requested`), func(x *round, id job.ID, m []string) bool {
		return (number(m[2]) == number(m[4])*each(x.s.Job(id), m[3])) == strings.HasPrefix(m[1], "starts")
	}},
	{regexp.MustCompile(`if it asked for (\d+) GPU`), func(x *round, id job.ID, m []string) bool {
		return number(m[1]) < least(x.s.Job(id).Spec)
	}},
	{regexp.MustCompile(`asked +exactly (\d+) GPU(?s:.*)it would get (\d+) (\S+) GPUs?([^\n]*)`), func(x *round, id job.ID, m []string) bool {
		n := each(x.s.Job(id), m[3])
		if asks := regexp.MustCompile(`if it asked for (\d+) GPU`).FindStringSubmatch(m[4]); asks != nil {
			m[1] = asks[1]
		}
		says := n == 1 || strings.Contains(m[4], "if it asked for") == strings.Contains(m[4], fmt.Sprintf("%d of type %s for each", n, m[3]))
		return number(m[1])*n == number(m[2]) && says || strings.Contains(m[4], " and ")
	}},
	{regexp.MustCompile(`asked +(\d+) to (\d+) GPU(?s:.*)it would get (\d+) (\S+) GPUs?([^\n]*)`), func(x *round, id job.ID, m []string) bool {
		n := each(x.s.Job(id), m[4])
		return number(m[3]) <= n*number(m[2]) && (number(m[3]) >= n*number(m[1]) || strings.Contains(m[5], "if it asked for")) || strings.Contains(m[5], " and ")
	}},
	{regexp.MustCompile(`asked [^\n]* of type ([^,(\n]*[^,( \n])(?s:.*)it would get \d+ (\S+) GPUs?([^\n]*)`), func(_ *round, _ job.ID, m []string) bool {
		return strings.Contains(m[3], "if it allowed GPUs of type") || strings.Contains(" or "+m[1]+" or ", " or "+m[2]+" or ")
	}},
	{regexp.MustCompile(`jobs of a higher (priority) come first`), func(x *round, id job.ID, _ []string) bool {
		own := x.s.Job(id)
		return slices.ContainsFunc(x.s.Jobs, func(j *policy.Job) bool {
			return j.Priority > own.Priority && x.p.Jobs[x.s.Index(j.ID)].Allocation.GPUs > 0
		})
	}},
	{regexp.MustCompile(`jobs that have (GPUs) come first`), func(x *round, _ job.ID, _ []string) bool {
		hold, _ := x.count()
		return hold > 0
	}},
	{regexp.MustCompile(`the (?:(\d+) GPUs|GPU) that it needs (?:is|are) free`), func(x *round, id job.ID, m []string) bool {
		return max(1, number(m[1])) == max(1, x.s.Job(id).GPUs)
	}},
	{regexp.MustCompile(`it had GPUs for (\S+) of the (\S+) since it was submitted`), func(x *round, id job.ID, m []string) bool {
		return seconds(m[1]) <= seconds(m[2]) && spans(m[2], int(x.s.Now.Sub(x.s.Job(id).Submitted).Round(time.Second).Seconds()))
	}},
	{regexp.MustCompile(`raise the total cost to (\S+) per hour, and the budget now allows (\S+) per hour`), func(_ *round, _ job.ID, m []string) bool {
		paid, err := strconv.ParseFloat(m[1], 64)
		most, also := strconv.ParseFloat(m[2], 64)
		return err == nil && also == nil && paid >= most
	}},
	{regexp.MustCompile(`\n  phase +(\S+)\n`), func(_ *round, _ job.ID, m []string) bool { return m[1] == "waiting" }},
	{regexp.MustCompile(`\n  holds +([^\n]*)\n`), func(_ *round, _ job.ID, m []string) bool { return m[1] == "no GPUs" }},
}

// wrong returns what the page of a point says that is not so in its round, or against itself; empty if nothing.
func (r *run) wrong(t *testing.T, at point, c *stated) string {
	t.Helper()
	page := r.page(t, at, c)
	for _, f := range facts {
		for _, m := range f.found.FindAllStringSubmatch(page, -1) {
			if !f.right(&r.all[at.round], at.job, m) {
				return fmt.Sprintf("%q\n%s", m[0], page)
			}
		}
	}
	return ""
}
