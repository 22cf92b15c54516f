package metrics

import (
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Result has all measurements of a run. Times are in seconds since Start. Slices by type are in the order of
// Types. No number is NaN or infinite.
type Result struct {
	Start   time.Time         `json:"start"` // time of the first event or round
	Types   []cluster.GPUType `json:"types"` // in the cluster's order
	Summary Summary           `json:"summary"`
	Series  Series            `json:"series"`
	Jobs    []JobResult       `json:"jobs"` // sorted by submission time, then ID
	// IntervalsDropped counts intervals beyond Options.MaxIntervals.
	IntervalsDropped int `json:"intervals_dropped,omitempty"`
	// Nodes are the lifetimes of rented nodes, in order of arrival. NodesDropped counts later ones beyond
	// Options.MaxNodes.
	Nodes        []NodeLife `json:"nodes,omitempty"`
	NodesDropped int        `json:"nodes_dropped,omitempty"`
}

// A NodeLife states from when to when a rented node was up, in seconds since Start. A node that was repaired has one
// for each time.
type NodeLife struct {
	Node     cluster.NodeID `json:"node"`
	Group    cluster.Group  `json:"group"`
	Ready    float64        `json:"ready_s"`
	Released float64        `json:"released_s"` // -1 if it still exists
}

// An Outcome states how a job ended, or that it is still active.
type Outcome string

// The outcomes.
const (
	Done      Outcome = "done"
	Failed    Outcome = "failed"
	Cancelled Outcome = "cancelled"
	Active    Outcome = "active" // not ended
)

// A JobResult has the measurements of one job. Times are in seconds since Result.Start, GPU times in GPU-seconds.
type JobResult struct {
	ID           job.ID     `json:"id"`
	Class        job.Class  `json:"class"` // the job's Name if its Spec has no class
	GPUs         int        `json:"gpus"`  // requested
	Outcome      Outcome    `json:"outcome"`
	Submitted    float64    `json:"submitted_s"`
	FirstStarted float64    `json:"first_started_s"`      // -1 if never
	Finished     float64    `json:"finished_s"`           // -1 if never
	JCT          float64    `json:"jct_s"`                // time from submission to end, or to now if active
	Queued       float64    `json:"queued_s"`             // part of JCT without GPUs
	Restarts     int        `json:"restarts"`             // starts and moves after the first start
	Preemptions  int        `json:"preemptions,omitzero"` // see Summary
	Resizes      int        `json:"resizes,omitzero"`     // see Summary
	OnLoan       bool       `json:"on_loan,omitzero"`     // held GPUs on loan at some time
	Allocated    float64    `json:"gpu_s"`                // Useful + Restart + Profiling + Idle
	ByType       []float64  `json:"gpu_s_by_type"`        // Allocated by type
	Useful       float64    `json:"useful_gpu_s"`
	Restart      float64    `json:"restart_gpu_s"`
	Profiling    float64    `json:"profiling_gpu_s"`
	Idle         float64    `json:"idle_gpu_s"`
	Lost         float64    `json:"lost_gpu_s,omitzero"` // part of Useful that had to be repeated
	Efficiency   float64    `json:"efficiency"`          // mean reported efficiency; 1 without reports
	Contention   float64    `json:"contention"`          // mean number of active jobs during its life (N_avg of Shockwave §6.2)
	Rho          float64    `json:"rho,omitempty"`       // finish-time fairness; 0 if unknown
	Energy       float64    `json:"energy_kwh"`
	Cost         float64    `json:"cost"`
	Intervals    []Interval `json:"intervals,omitempty"` // sorted by start
}

// A State is what a job does with the GPUs that it holds: it trains, restores a checkpoint, or has ended.
type State uint8

// The states.
const (
	Training State = iota
	Restoring
	Idle // between the job's end and the end of the round
)

var stateNames = [...]string{"training", "restoring", "idle"}

func (s State) String() string { return stateNames[s] }

// MarshalText returns the name in lower case.
func (s State) MarshalText() ([]byte, error) { return []byte(stateNames[s]), nil }

// UnmarshalText reads a name, or returns an error.
func (s *State) UnmarshalText(text []byte) error {
	i := slices.Index(stateNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("metrics: state %q, want one of %v", text, stateNames)
	}
	*s = State(i)
	return nil
}

// An Interval is a period in which a job had the same GPUs and State.
type Interval struct {
	Start float64 `json:"start_s"`
	End   float64 `json:"end_s"`
	GPUs  int32   `json:"gpus"`
	Type  uint8   `json:"type"` // index into Result.Types
	State State   `json:"state"`
}

// A Series is the state of the cluster over time. Each point is the mean of RoundsPerPoint rounds.
type Series struct {
	RoundsPerPoint int         `json:"rounds_per_point"`
	Time           []float64   `json:"time_s"`   // start of the first round of a point
	Running        []float64   `json:"running"`  // jobs with GPUs
	Waiting        []float64   `json:"waiting"`  // active jobs without GPUs
	Busy           [][]float64 `json:"busy"`     // held GPUs, by type, then point
	Capacity       [][]float64 `json:"capacity"` // GPUs, by type, then point
	// Starting counts rented GPUs that are starting, by type, then point. Spending is per hour, for ready and
	// starting nodes. Both are nil if nothing can be rented.
	Starting [][]float64 `json:"starting,omitempty"`
	Spending []float64   `json:"spending_per_h,omitempty"`
	Loans    *LoanSeries `json:"loans,omitempty"` // nil if nothing can be lent
}

// A LoanSeries describes an inference cluster that lends nodes. Its values are GPUs, one for each point of a Series.
type LoanSeries struct {
	Lent   []float64 `json:"lent"`   // GPUs on loan
	Busy   []float64 `json:"busy"`   // GPUs on loan that jobs hold
	Wanted []float64 `json:"wanted"` // GPUs on loan that the owner wants back
	Load   []float64 `json:"load"`   // the owner's own demand
	Pool   []float64 `json:"pool"`   // all GPUs of the owner's cluster
	// Prices are as in LoanSummary; 0 in rounds without a plan or jobs; nil if no plan had any.
	TrainingPrice []float64 `json:"training_price_s,omitempty"`
	LoanPrice     []float64 `json:"loan_price_s,omitempty"`
}

// A Summary has totals and means over a run. Times, GPU-hours and restarts are over completed jobs; counts and Hours
// are over all jobs.
type Summary struct {
	Jobs      int `json:"jobs"` // submitted
	Done      int `json:"done"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
	Active    int `json:"active"`
	Rounds    int `json:"rounds"`

	MeanJCT    float64 `json:"jct_mean_s"`
	P50JCT     float64 `json:"jct_p50_s"`
	P75JCT     float64 `json:"jct_p75_s"`
	P90JCT     float64 `json:"jct_p90_s"`
	P95JCT     float64 `json:"jct_p95_s"`
	P99JCT     float64 `json:"jct_p99_s"`     // all quantiles are by Quantile
	MeanQueued float64 `json:"queued_mean_s"` // time without GPUs, at the start or later
	P50Queued  float64 `json:"queued_p50_s"`
	P75Queued  float64 `json:"queued_p75_s"`
	P95Queued  float64 `json:"queued_p95_s"`
	P99Queued  float64 `json:"queued_p99_s"`
	Makespan   float64 `json:"makespan_s"` // time from the first submission to the last end

	GPUHoursPerJob float64 `json:"gpu_hours_per_job"` // allocated GPU-hours of a completed job
	RestartsPerJob float64 `json:"restarts_per_job"`

	// Preemptions counts how often a job lost all its GPUs: preempted, by a failed node, or moved off a returned
	// node.
	Preemptions int `json:"preemptions"`
	Resizes     int `json:"resizes"`

	MeanContention float64 `json:"contention_mean"` // active jobs per round
	MaxContention  int     `json:"contention_max"`

	// AllocatedHours is the sum of the following four, in GPU-hours.
	AllocatedHours float64 `json:"gpu_hours"`
	UsefulHours    float64 `json:"useful_gpu_hours"`
	RestartHours   float64 `json:"restart_gpu_hours"`
	ProfilingHours float64 `json:"profiling_gpu_hours"`
	IdleHours      float64 `json:"idle_gpu_hours"`
	// LostHours is the part of UsefulHours that jobs without checkpoints had to repeat.
	LostHours float64 `json:"lost_gpu_hours"`
	// GoodputRatio is useful GPU time that was not lost, weighted by statistical efficiency, divided by allocated
	// GPU time.
	GoodputRatio float64 `json:"goodput_ratio"`
	// Utilisation is held GPU time divided by available GPU time, from the first submission to the end of the last
	// round with jobs. It includes restarts and IdleHours, but not profiling.
	Utilisation float64 `json:"utilisation"`
	MeanGPUs    float64 `json:"gpus_mean"`
	// MeanSpending is the spending per hour, for available and starting nodes. A GPU-hour of unknown price costs
	// 1.
	MeanSpending float64       `json:"spending_mean_per_h"`
	Types        []TypeSummary `json:"types"`
	Energy       float64       `json:"energy_kwh"`
	Cost         float64       `json:"cost"`

	Rent *Rent `json:"rent,omitempty"` // nil if nothing can be rented

	Loans *LoanSummary `json:"loans,omitempty"` // nil if nothing can be lent

	Rho *RhoSummary `json:"rho,omitempty"` // nil if unknown for all jobs
}

// PreemptionRatio returns Preemptions divided by submitted jobs. Source: Lyra Table 5, footnote 2.
func (s *Summary) PreemptionRatio() float64 { return ratio(float64(s.Preemptions), float64(s.Jobs)) }

// A LoanSummary has totals about nodes on loan. A reclaim is a round that returns nodes because their owner wants them
// back.
type LoanSummary struct {
	Training float64 `json:"training_usage"` // held over available GPU time of nodes not on loan
	OnLoan   float64 `json:"loan_usage"`     // held over available GPU time of nodes on loan
	// Overall is GPU time held by jobs or used by the owner, divided by the GPU time of both clusters. Source:
	// Lyra Table 5, footnote 1.
	Overall float64 `json:"overall_usage"`

	LentHours  float64 `json:"lent_gpu_hours"` // GPU-hours of nodes on loan
	BusyHours  float64 `json:"busy_gpu_hours"`
	ShortHours float64 `json:"short_gpu_hours"` // GPU-hours of the owner's demand that were not met because nodes were lent

	Loans     int `json:"loans"`     // times that nodes were borrowed
	Nodes     int `json:"nodes"`     // nodes borrowed
	Reclaims  int `json:"reclaims"`  // times that the owner wanted more nodes back
	Reclaimed int `json:"reclaimed"` // nodes returned in reclaims
	Preempted int `json:"preempted"` // jobs preempted by reclaims
	Taken     int `json:"taken"`     // due nodes that the owner took
	Lost      int `json:"lost"`      // jobs that lost GPUs when nodes were taken

	// Flexible is the fraction of Reclaimed that preempted no job. Source: Lyra §7.2.
	Flexible float64 `json:"flexible_share"`
	// OfRunning is Preempted divided by the jobs that held GPUs; OfBorrowing, by the jobs that held GPUs on loan.
	// Source: Lyra §7.3, Fig. 10.
	OfRunning   float64 `json:"preempted_of_running"`
	OfBorrowing float64 `json:"preempted_of_borrowing"`
	// Damage is the GPUs that preempted jobs released on other nodes, divided by the GPUs of Reclaimed. Source:
	// Lyra §7.3, collateral damage.
	Damage float64 `json:"collateral_damage"`

	// Priced counts the rounds with jobs, nodes on loan and policy.Plan.Prices. A price is the running time in
	// seconds that one more GPU would save elastic jobs. It excludes waiting jobs, and is 0 while GPUs are idle or
	// base demands use all.
	Priced int `json:"priced_rounds"`
	// TrainingPrice is the mean price of a GPU that is not on loan; LoanPrice, of one that is.
	TrainingPrice float64 `json:"training_price_s"`
	LoanPrice     float64 `json:"loan_price_s"`
	// ServerPrice is the mean price of a node on loan, in seconds.
	ServerPrice float64 `json:"server_price_s"`
	// ReturnCost is the useful GPU-hours that Preempted jobs without checkpoints lost, divided by Reclaimed.
	ReturnCost float64 `json:"return_cost_gpu_hours"`
}

// A Rent is the cost of rented nodes over the time of Summary.Utilisation. Hours count from a node's order until it is
// returned or reclaimed, also while it is broken. Money uses cluster.Offer.GPUPrice, or 1 if the price is unknown.
// Sources: BOA §6.2, "Measurement"; BOA App. D.
type Rent struct {
	Hours    float64 `json:"gpu_hours"`          // GPU-hours from order to return
	Starting float64 `json:"starting_gpu_hours"` // part of Hours until nodes are up
	Idle     float64 `json:"idle_gpu_hours"`     // part of Hours without a job
	Leaving  float64 `json:"leaving_gpu_hours"`  // GPU-hours after the return, not in Hours

	Money        float64 `json:"money"`         // cost of Hours
	LeavingMoney float64 `json:"leaving_money"` // cost of Leaving

	MeanGPUs float64 `json:"gpus_mean"` // mean number of rented GPUs
	MostGPUs int     `json:"gpus_max"`
	// WorstWeek is the largest cost of any 7 days, including LeavingMoney, per hour; 0 for shorter runs.
	WorstWeek float64 `json:"worst_week_per_hour"`
}

// A TypeSummary has the totals for the GPUs of one type.
type TypeSummary struct {
	Type        cluster.GPUType `json:"type"`
	GPUs        int             `json:"gpus"`
	MaxGPUs     int             `json:"gpus_max"`  // most GPUs at any time
	Hours       float64         `json:"gpu_hours"` // allocated GPU-hours
	Utilisation float64         `json:"utilisation"`
}

// A RhoSummary describes the finish-time fairness (rho) of the completed jobs for which it is known. Sources: Sia
// §3.5.5; Shockwave §8.2.
type RhoSummary struct {
	Static      bool    `json:"static"` // rho comes from Options.Fair
	Mean        float64 `json:"mean"`
	Worst       float64 `json:"worst"`
	UnfairAbove float64 `json:"unfair_above"` // threshold of Unfair
	Unfair      float64 `json:"unfair_fraction"`
}

type resultStore struct {
	parts [][]JobResult
	n     int
}

const mostInPart = 8192

func (s *resultStore) add(j JobResult) *JobResult {
	last := len(s.parts) - 1
	if last < 0 || len(s.parts[last]) == cap(s.parts[last]) {
		s.parts = append(s.parts, make([]JobResult, 0, min(mostInPart, max(16, s.n))))
		last++
	}
	s.parts[last] = append(s.parts[last], j)
	s.n++
	return &s.parts[last][len(s.parts[last])-1]
}

func (s *resultStore) all() []JobResult {
	list := make([]JobResult, 0, s.n)
	for i, part := range s.parts {
		list = append(list, part...)
		s.parts[i] = nil
	}
	*s = resultStore{}
	return list
}

func (s *resultStore) clone() resultStore {
	c := resultStore{slices.Clone(s.parts), s.n}
	if last := len(c.parts) - 1; last >= 0 {
		c.parts[last] = slices.Clip(c.parts[last])
	}
	return c
}
