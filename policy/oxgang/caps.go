package oxgang

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/goodput"
)

// A Cap limits the GPU-hours of a user, a queue or a class of jobs in a calendar month (UTC). Use counts as in package
// ledger: until the end of the round in which a job ends. Hours of profiling do not count.
type Cap struct {
	Of, Name string  // Of is user, queue or class
	Hours    float64 // GPU-hours a month
	Soft     bool    // the weight of its jobs is multiplied by the remaining share of Hours, at least leastLeft
	Used     float64 // GPU-hours already used at CapsFrom
}

const leastLeft = 0.01 // so that a soft cap leaves no GPU idle

// ParseCaps reads "user:alice=500;queue:vision=800 soft".
func ParseCaps(text string) (all []Cap, err error) {
	for part := range strings.SplitSeq(text, ";") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		of, rest, _ := strings.Cut(part, ":")
		at := strings.LastIndex(rest, "=")
		c := Cap{Of: of}
		hours := rest[at+1:]
		hours, c.Soft = strings.CutSuffix(hours, " soft")
		c.Hours, err = strconv.ParseFloat(strings.TrimSpace(hours), 64)
		if c.Name = rest[:max(0, at)]; c.Name == "" || err != nil || !(c.Hours >= 0) || math.IsInf(c.Hours, 0) || !slices.Contains([]string{"user", "queue", "class"}, of) {
			return nil, fmt.Errorf("cap %q, want the GPU-hours a month of a user, queue or class, such as user:alice=500 or queue:vision=800 soft", part)
		}
		all = append(all, c)
	}
	return all, nil
}

// FormatUse returns a use of GPU-hours, one number for each cap, until a time. The setting cap-used accepts it.
func FormatUse(at time.Time, hours []float64) string {
	parts := []string{at.UTC().Format(time.RFC3339Nano)}
	for _, h := range hours {
		parts = append(parts, strconv.FormatFloat(h, 'g', -1, 64))
	}
	return strings.Join(parts, " ")
}

func parseUse(text string, caps []Cap) (at time.Time, err error) {
	parts := strings.Fields(text)
	if len(parts) == 0 {
		return at, nil
	}
	if len(parts) != len(caps)+1 {
		return at, fmt.Errorf("cap-used has %d numbers, want one for each of %d caps", len(parts)-1, len(caps))
	}
	for i := range caps {
		if caps[i].Used, err = strconv.ParseFloat(parts[i+1], 64); err != nil || !(caps[i].Used >= 0) {
			return at, fmt.Errorf("cap-used has %q, want GPU-hours", parts[i+1])
		}
	}
	return time.Parse(time.RFC3339Nano, parts[0])
}

// Has reports whether a cap counts job j.
func (c *Cap) Has(j *job.Spec) bool {
	switch c.Of {
	case "user":
		return j.User == c.Name
	case "queue":
		return j.Queue == c.Name
	}
	return cmp.Or(string(j.Class), j.Name) == c.Name
}

// caps counts the GPU-hours of a month by cap. A job that runs adds the GPU time since the last round. A job that
// has ended adds its GPUs until this round, or until the end of its last round, if the present round is later.
type caps struct {
	all    []Cap
	used   []float64 // GPU-seconds of the month of at
	at     time.Time // counted until then
	length time.Duration
	jobs   map[job.ID]*cappedJob
}

type cappedJob struct {
	caps   []int
	served time.Duration // GPU time counted so far
	gpus   int           // held until the next round
}

func newCaps(o *Options) *caps {
	c := &caps{all: o.Caps, used: make([]float64, len(o.Caps)), at: o.CapsFrom, jobs: map[job.ID]*cappedJob{}}
	for i := range c.all {
		c.used[i] = 3600 * c.all[i].Used
	}
	return c
}

// MonthOf returns the start of the calendar month of t in UTC.
func MonthOf(t time.Time) time.Time {
	y, m, _ := t.UTC().Date()
	return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
}

func (c *caps) count(s *policy.Snapshot) {
	if len(c.all) == 0 {
		return
	}
	if c.at.IsZero() || c.at.After(s.Now) {
		c.at = s.Now
	}
	month := MonthOf(s.Now)
	if c.at.Before(month) {
		clear(c.used)
	}
	here := make(map[job.ID]bool, len(s.Jobs))
	for _, j := range s.Jobs {
		here[j.ID] = true
		a := c.job(j, s.Now)
		served := j.AttainedGPUService(s.Now)
		c.add(a, served-a.served, s.Now, month)
		a.served = served
	}
	end := s.Now
	if round := c.at.Add(c.length); round.Before(end) {
		end = round
	}
	for id, a := range c.jobs {
		if !here[id] {
			c.add(a, time.Duration(a.gpus)*end.Sub(c.at), end, month)
			delete(c.jobs, id)
		}
	}
	c.at, c.length = s.Now, s.Length
}

// job returns the account of a job. A job that held GPUs before the policy began counts from the time of Cap.Used.
func (c *caps) job(j *policy.Job, now time.Time) *cappedJob {
	a := c.jobs[j.ID]
	if a == nil {
		a = &cappedJob{served: j.AttainedGPUService(now)}
		if j.Holding() {
			a.served -= time.Duration(j.Allocation.AllGPUs()) * min(now.Sub(c.at), now.Sub(j.Since))
		}
		for i := range c.all {
			if c.all[i].Has(j.Spec) {
				a.caps = append(a.caps, i)
			}
		}
		c.jobs[j.ID] = a
	}
	return a
}

// add counts the part in the month of a GPU time between c.at and another time. Whole milliseconds make the sum independent
// of the order of jobs.
func (c *caps) add(a *cappedJob, gpuTime time.Duration, until, month time.Time) {
	seconds, span := gpuTime.Seconds(), until.Sub(c.at)
	if after := until.Sub(month); after < span {
		seconds *= max(0, after.Seconds()) / span.Seconds()
	}
	for _, i := range a.caps {
		c.used[i] += math.Round(1e3*seconds) / 1e3
	}
}

// full returns the first hard cap of a job that is used up; -1: none.
func (c *caps) full(id job.ID) int {
	if a := c.jobs[id]; a != nil {
		for _, i := range a.caps {
			if !c.all[i].Soft && c.used[i] >= 3600*c.all[i].Hours {
				return i
			}
		}
	}
	return -1
}

// left returns the remaining share of the soft caps of a job: their product, at least leastLeft.
func (c *caps) left(id job.ID) float64 {
	left := 1.0
	if a := c.jobs[id]; a != nil {
		for _, i := range a.caps {
			if c.all[i].Soft {
				left *= max(0, 1-c.used[i]/max(1, 3600*c.all[i].Hours))
			}
		}
	}
	return max(leastLeft, left)
}

// forbid leaves a job whose hard cap is used up no more GPUs than it holds: none if it waits.
func (c *caps) forbid(rows []*goodput.Row, active []*state) {
	for i, r := range rows {
		if c.full(r.Job().ID) < 0 || r.Job().NonPreemptive && r.Job().Holding() {
			continue
		}
		st, was := active[i], r.Worth.Factors
		factors := make([]float64, r.Columns())
		for k := range factors {
			switch {
			case r.Column(k).GPUs > r.Job().Allocation.GPUs:
			case was != nil:
				factors[k] = was[k]
			case k == r.Holds():
				factors[k] = 1
			default:
				factors[k] = r.Worth.Factor
			}
		}
		st.factors, r.Worth.Factors = factors, factors
		if !r.Job().Holding() {
			r.Claim, st.claims = goodput.Claim{}, false
		}
	}
}

// explain sets the reason of jobs that a cap keeps from starting, and notes the GPUs of this round.
func (c *caps) explain(s *policy.Snapshot, plan *policy.Plan) {
	for i, j := range s.Jobs {
		d := &plan.Jobs[i]
		if k := c.full(j.ID); k >= 0 && d.Allocation.IsZero() {
			limit := &c.all[k]
			of := limit.Of + " " + limit.Name + " in " + s.Now.UTC().Format("2006-01")
			d.Why = policy.Reason{Kind: policy.WaitCap, Config: cluster.Configuration{GPUType: cluster.GPUType(of)}, Value: c.used[k] / 3600, Limit: limit.Hours}
		}
		if a := c.jobs[j.ID]; a != nil {
			a.gpus = d.Allocation.AllGPUs()
		}
	}
}

func (c *caps) Remember(m *memory.Codec) {
	m.Fields(&c.used, &c.at, &c.length)
	memory.Map(m, &c.jobs, memory.To((*cappedJob).Remember))
}

func (a *cappedJob) Remember(m *memory.Codec) { m.Fields(&a.caps, &a.served, &a.gpus) }
