package metrics

import (
	"fmt"
	"slices"

	"github.com/oxgang/oxgang/model/job"
)

// A job finishes later if its completion time exceeds the baseline's by more than both limits.
const (
	laterShare   = 0.1 // fraction of the JCT under the baseline
	laterSeconds = 600
)

// LaterRule states in words how much later than under the baseline a job must end to count as later.
const LaterRule = "more than 10 % and 10 min"

// JobTimes has the waiting and completion time of one job, in seconds.
type JobTimes struct {
	ID        job.ID
	Submitted float64 // seconds since the start of the run
	Wait      float64 // until the first start, or until now
	JCT       float64 // until the end, or until now
	GPUs      int32   // requested
	Done      bool
	Active    bool
}

// JobTimes returns the times of all jobs.
func (r *Result) JobTimes() []JobTimes {
	all := make([]JobTimes, len(r.Jobs))
	for i := range r.Jobs {
		j := &r.Jobs[i]
		all[i] = JobTimes{
			ID: j.ID, Submitted: j.Submitted, Wait: j.JCT, JCT: j.JCT, GPUs: int32(max(1, j.GPUs)),
			Done: j.Outcome == Done, Active: j.Outcome == Active,
		}
		if j.FirstStarted >= 0 {
			all[i].Wait = j.FirstStarted - j.Submitted
		}
	}
	return all
}

// LargestPool returns the largest number of GPUs of one type that existed at any time.
func (r *Result) LargestPool() int {
	most := 0
	for i := range r.Summary.Types {
		most = max(most, r.Summary.Types[i].MaxGPUs)
	}
	return most
}

// A Size is a range of requested GPUs, by which jobs are grouped. To is 0 if there is no upper limit.
type Size struct {
	Key  string `json:"size"` // name in SizeKeys, which does not depend on the pool
	From int    `json:"gpus_from"`
	To   int    `json:"gpus_to,omitempty"`
}

// String returns the range for people: "1 GPU", "2 to 8 GPUs", "more than 32 GPUs".
func (s Size) String() string {
	switch {
	case s.To == 0:
		return fmt.Sprintf("more than %d GPU%s", s.From-1, plural(s.From-1))
	case s.From == s.To:
		return fmt.Sprintf("%d GPU%s", s.From, plural(s.From))
	}
	return fmt.Sprintf("%d to %d GPUs", s.From, s.To)
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// SizeKeys are the names of the groups of jobs by size, smallest first.
var SizeKeys = [...]string{"1_gpu", "2_to_8_gpus", "9_gpus_to_half", "above_half"}

// Sizes returns the groups of SizeKeys. pool is the number of GPUs of the most frequent type; half of it separates the
// largest groups. If the pool is small, a group may be empty: its From exceeds its To.
func Sizes(pool int) [len(SizeKeys)]Size {
	half := max(1, pool/2)
	return [...]Size{
		{SizeKeys[0], 1, 1},
		{SizeKeys[1], 2, min(8, half)},
		{SizeKeys[2], 9, max(half, 1)},
		{SizeKeys[3], half + 1, 0},
	}
}

func sizeOf(gpus, pool int) int {
	switch half := max(1, pool/2); {
	case gpus > half:
		return 3
	case gpus <= 1:
		return 0
	case gpus <= 8:
		return 1
	}
	return 2
}

// Waits has the waiting times of the jobs of one size, in seconds.
type Waits struct {
	Size
	Jobs    int     `json:"jobs"`
	Mean    float64 `json:"mean_s"`
	Longest float64 `json:"longest_s"`
	P99     float64 `json:"p99_s"`
}

// WaitsBySize returns the waiting times of the jobs of all runs, grouped by Sizes(pool).
func WaitsBySize(pool int, runs ...[]JobTimes) []Waits {
	var waits [len(SizeKeys)][]float64
	for _, jobs := range runs {
		for i := range jobs {
			s := sizeOf(int(jobs[i].GPUs), pool)
			waits[s] = append(waits[s], jobs[i].Wait)
		}
	}
	all := make([]Waits, len(SizeKeys))
	for i, size := range Sizes(pool) {
		all[i] = Waits{Size: size, Jobs: len(waits[i])}
		if n := len(waits[i]); n > 0 {
			slices.Sort(waits[i])
			all[i].Mean, all[i].Longest, all[i].P99 = mean(waits[i]), waits[i][n-1], Quantile(waits[i], 0.99)
		}
	}
	return all
}

// A Delays counts the jobs that finish later than under a baseline policy; see LaterRule.
type Delays struct {
	Baseline string `json:"baseline"`
	DelayCount
	// NotCompared counts the baseline's jobs that did not complete in both runs.
	NotCompared int          `json:"not_compared"`
	Seeds       int          `json:"seeds"`   // number of runs added
	BySize      []SizeDelays `json:"by_size"` // by Sizes
}

// A DelayCount counts the jobs that finish later than under the baseline.
type DelayCount struct {
	Compared int     `json:"compared"`
	Later    int     `json:"later"`
	Worst    float64 `json:"worst_s"` // largest delay, in seconds
	WorstJob job.ID  `json:"worst_job,omitempty"`
	Seed     uint64  `json:"worst_seed,omitempty"` // seed of WorstJob's run
}

// SizeDelays is the DelayCount of the jobs of one size.
type SizeDelays struct {
	Size
	DelayCount
}

// Share returns the fraction of jobs that finish later than under the baseline policy; 0 without jobs.
func (c *DelayCount) Share() float64 { return ratio(float64(c.Later), float64(c.Compared)) }

// NewDelays returns an empty Delays against the policy baseline. pool is as in Sizes.
func NewDelays(baseline string, pool int) *Delays {
	d := &Delays{Baseline: baseline}
	for _, size := range Sizes(pool) {
		d.BySize = append(d.BySize, SizeDelays{Size: size})
	}
	return d
}

// Add compares two runs of the same jobs, matched by ID, and counts the jobs that finish later under policy than under
// baseline. pool is as in Sizes. A job that has not ended under policy counts with its time so far.
func (d *Delays) Add(seed uint64, baseline, policy []JobTimes, pool int) {
	d.Seeds++
	found := make(map[job.ID]*JobTimes, len(policy))
	for i := range policy {
		found[policy[i].ID] = &policy[i]
	}
	for i := range baseline {
		was := &baseline[i]
		now := found[was.ID]
		if !was.Done || now == nil || !now.Done && !now.Active {
			d.NotCompared++
			continue
		}
		delay := now.JCT - was.JCT
		d.DelayCount.add(was.ID, seed, delay, was.JCT)
		d.BySize[sizeOf(int(was.GPUs), pool)].add(was.ID, seed, delay, was.JCT)
	}
}

func (c *DelayCount) add(id job.ID, seed uint64, delay, jct float64) {
	c.Compared++
	if delay <= laterSeconds || delay <= laterShare*jct {
		return
	}
	if c.Later++; delay > c.Worst {
		c.Worst, c.WorstJob, c.Seed = delay, id, seed
	}
}
