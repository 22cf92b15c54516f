package metrics

import (
	"fmt"
	"slices"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
)

// A Result is how a run went. Times are seconds since Start; slices by type
// are aligned with Types. No number in it is NaN or infinite.
type Result struct {
	Start   time.Time         `json:"start"` // the first thing that happened
	Types   []cluster.GPUType `json:"types"` // in the cluster's order
	Summary Summary           `json:"summary"`
	Series  Series            `json:"series"`
	Jobs    []JobResult       `json:"jobs"` // by submission time, then ID
	// IntervalsDropped counts intervals beyond Options.MaxIntervals.
	IntervalsDropped int `json:"intervals_dropped,omitempty"`
	// Nodes are the lives of rented nodes, by when they came; NodesDropped counts
	// those beyond Options.MaxNodes.
	Nodes        []NodeLife `json:"nodes,omitempty"`
	NodesDropped int        `json:"nodes_dropped,omitempty"`
}

// A NodeLife is a time in which a rented node was there; one that broke and was repaired
// has two. Times are seconds since Result.Start.
type NodeLife struct {
	Node     cluster.NodeID `json:"node"`
	Group    cluster.Group  `json:"group"`
	Ready    float64        `json:"ready_s"`
	Released float64        `json:"released_s"` // -1 if it still is there
}

// An Outcome is how a job ended, or that it did not.
type Outcome string

// The outcomes.
const (
	Done      Outcome = "done"
	Failed    Outcome = "failed"
	Cancelled Outcome = "cancelled"
	Active    Outcome = "active" // when the result was taken
)

// A JobResult is the life of one job. Times are seconds since Result.Start,
// GPU times GPU-seconds.
type JobResult struct {
	ID           job.ID     `json:"id"`
	Class        job.Class  `json:"class"` // its Spec's Class, or Name if that is empty
	GPUs         int        `json:"gpus"`  // requested
	Outcome      Outcome    `json:"outcome"`
	Submitted    float64    `json:"submitted_s"`
	FirstStarted float64    `json:"first_started_s"`      // -1 if never
	Finished     float64    `json:"finished_s"`           // -1 if not
	JCT          float64    `json:"jct_s"`                // submission to end; so far, if active
	Queued       float64    `json:"queued_s"`             // of which without GPUs
	Restarts     int        `json:"restarts"`             // starts and moves after the first start
	Preemptions  int        `json:"preemptions,omitzero"` // see Summary
	Resizes      int        `json:"resizes,omitzero"`     // see Summary
	OnLoan       bool       `json:"on_loan,omitzero"`     // it held GPUs of nodes on loan, once
	Allocated    float64    `json:"gpu_s"`                // = Useful + Restart + Profiling + Idle
	ByType       []float64  `json:"gpu_s_by_type"`        // Allocated by GPU type
	Useful       float64    `json:"useful_gpu_s"`
	Restart      float64    `json:"restart_gpu_s"`
	Profiling    float64    `json:"profiling_gpu_s"`
	Idle         float64    `json:"idle_gpu_s"`
	Lost         float64    `json:"lost_gpu_s,omitzero"` // of Useful, before a job without checkpoints began anew
	Efficiency   float64    `json:"efficiency"`          // mean statistical efficiency reported; 1 if none was
	Contention   float64    `json:"contention"`          // N_avg: active jobs over its life, itself among them
	Rho          float64    `json:"rho,omitempty"`       // finish-time fairness; 0 if not known
	Energy       float64    `json:"energy_kwh"`
	Cost         float64    `json:"cost"`
	Intervals    []Interval `json:"intervals,omitempty"` // what it held, by start
}

// A State is what a job does with GPUs it holds.
type State uint8

// The states.
const (
	Training  State = iota
	Restoring       // starting, or restoring its checkpoint
	Idle            // the job has ended, its round has not
)

var stateNames = [...]string{"training", "restoring", "idle"}

// String returns the state in lower case.
func (s State) String() string { return stateNames[s] }

// MarshalText returns the state in lower case.
func (s State) MarshalText() ([]byte, error) { return []byte(stateNames[s]), nil }

// UnmarshalText takes what MarshalText returns. It returns an error for
// anything else.
func (s *State) UnmarshalText(text []byte) error {
	i := slices.Index(stateNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("metrics: state %q, want one of %v", text, stateNames)
	}
	*s = State(i)
	return nil
}

// An Interval is a time in which a job held the same GPUs in one state.
type Interval struct {
	Start float64 `json:"start_s"`
	End   float64 `json:"end_s"`
	GPUs  int32   `json:"gpus"`
	Type  uint8   `json:"type"` // index into Result.Types
	State State   `json:"state"`
}

// A Series is the run over time. Where there were more rounds than
// Options.MaxPoints, a point is the mean over RoundsPerPoint rounds.
type Series struct {
	RoundsPerPoint int         `json:"rounds_per_point"`
	Time           []float64   `json:"time_s"`   // of the first round of a point
	Running        []float64   `json:"running"`  // jobs that hold GPUs
	Waiting        []float64   `json:"waiting"`  // active jobs that do not
	Busy           [][]float64 `json:"busy"`     // GPUs held, by type, then point
	Capacity       [][]float64 `json:"capacity"` // GPUs there, by type, then point
	// Starting are rented GPUs on their way, by type, then point; Spending is what those
	// there and those on their way cost per hour. Nil if nothing can be rented.
	Starting [][]float64 `json:"starting,omitempty"`
	Spending []float64   `json:"spending_per_h,omitempty"`
	Loans    *LoanSeries `json:"loans,omitempty"` // nil if nothing can be lent
}

// A LoanSeries is nodes on loan and their owner's cluster over time, in GPUs, by point.
type LoanSeries struct {
	Lent   []float64 `json:"lent"`   // there
	Busy   []float64 `json:"busy"`   // of Lent, held by jobs
	Wanted []float64 `json:"wanted"` // of Lent, that the owner wants back
	Load   []float64 `json:"load"`   // that the owner would use itself
	Pool   []float64 `json:"pool"`   // of the owner, lent or not
	// TrainingPrice is what one more GPU that is not on loan would save in a round, and
	// LoanPrice, one that is: see LoanSummary. 0 without plan or jobs, nil if
	// LoanSummary.Priced is 0.
	TrainingPrice []float64 `json:"training_price_s,omitempty"`
	LoanPrice     []float64 `json:"loan_price_s,omitempty"`
}

// A Summary is the run in a few numbers. Times per job and GPU-hours and
// restarts per job are over jobs that are done; totals are over all jobs.
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
	P99JCT     float64 `json:"jct_p99_s"`     // quantiles are nearest rank: see Quantile
	MeanQueued float64 `json:"queued_mean_s"` // without GPUs, before the first start and after
	P50Queued  float64 `json:"queued_p50_s"`
	P75Queued  float64 `json:"queued_p75_s"`
	P95Queued  float64 `json:"queued_p95_s"`
	P99Queued  float64 `json:"queued_p99_s"`
	Makespan   float64 `json:"makespan_s"` // first submission to last end

	GPUHoursPerJob float64 `json:"gpu_hours_per_job"` // of AllocatedHours
	RestartsPerJob float64 `json:"restarts_per_job"`

	// Preemptions is how often jobs that held GPUs lost all of them: preempted, lost with a
	// node, or moved off a node on loan that went back. Other moves are none.
	Preemptions int `json:"preemptions"`
	Resizes     int `json:"resizes"` // how often workers joined or left without a restart

	MeanContention float64 `json:"contention_mean"` // active jobs per round
	MaxContention  int     `json:"contention_max"`

	// AllocatedHours are all GPU-hours: UsefulHours, RestartHours, ProfilingHours and IdleHours,
	// which jobs hold from their end to the end of the round.
	AllocatedHours float64 `json:"gpu_hours"`
	UsefulHours    float64 `json:"useful_gpu_hours"`
	RestartHours   float64 `json:"restart_gpu_hours"`
	ProfilingHours float64 `json:"profiling_gpu_hours"`
	IdleHours      float64 `json:"idle_gpu_hours"`
	// LostHours are those of UsefulHours that jobs without checkpoints trained before they
	// began anew; what jobs lose that have checkpoints is not known.
	LostHours float64 `json:"lost_gpu_hours"`
	// GoodputRatio is useful GPU time that was not lost, each job's weighted by its statistical
	// efficiency, over allocated GPU time: the goodput there was over the
	// goodput there would have been at the throughput the jobs reported, had
	// every allocated GPU trained all the time at efficiency 1.
	GoodputRatio float64 `json:"goodput_ratio"`
	// Utilisation is GPU time held, not used, over GPU time there, from the first
	// submission to the end of the last round with jobs: restarts and IdleHours count in full.
	// GPUs used for profiling runs do not count.
	Utilisation float64 `json:"utilisation"`
	MeanGPUs    float64 `json:"gpus_mean"` // GPUs there, over the same time
	// MeanSpending is what the nodes there and the rented ones on their way cost per
	// hour, over the same time, used or not: a GPU-hour costs 1 where no price is known.
	MeanSpending float64       `json:"spending_mean_per_h"`
	Types        []TypeSummary `json:"types"`
	Energy       float64       `json:"energy_kwh"`
	Cost         float64       `json:"cost"`

	Rent *Rent `json:"rent,omitempty"` // nil if nothing can be rented

	Loans *LoanSummary `json:"loans,omitempty"` // nil if nothing can be lent

	Rho *RhoSummary `json:"rho,omitempty"` // nil if it is known of no job
}

// PreemptionRatio returns preemptions over submissions. Source: Lyra Table 5, footnote 2.
func (s *Summary) PreemptionRatio() float64 { return ratio(float64(s.Preemptions), float64(s.Jobs)) }

// A LoanSummary is what came of nodes on loan. Usage and GPU-hours are over the time of
// Summary.Utilisation, by GPUs as they are; what is counted is of all jobs and the whole
// run. A round reclaims if it gives nodes back whose owner wants some; ratios of such rounds
// are of the sums over all of them, so that rounds count by their size.
type LoanSummary struct {
	Training float64 `json:"training_usage"` // GPU time held over GPU time there, of nodes not on loan
	OnLoan   float64 `json:"loan_usage"`     // likewise, of nodes on loan
	// Overall is GPU time held by jobs, or used by the owner, of all nodes and the owner's:
	// of its own load, as much as there is room for. Source: Lyra Table 5, footnote 1.
	Overall float64 `json:"overall_usage"`

	LentHours  float64 `json:"lent_gpu_hours"`  // of nodes on loan that were there
	BusyHours  float64 `json:"busy_gpu_hours"`  // of LentHours, held by jobs
	ShortHours float64 `json:"short_gpu_hours"` // that the owner would have used, and had lent

	Loans     int `json:"loans"`     // times that more nodes were lent
	Nodes     int `json:"nodes"`     // lent then
	Reclaims  int `json:"reclaims"`  // times that more nodes were wanted back
	Reclaimed int `json:"reclaimed"` // nodes that rounds gave back which reclaim
	Preempted int `json:"preempted"` // jobs, of such nodes
	Taken     int `json:"taken"`     // nodes that the owner took, as they were due
	Lost      int `json:"lost"`      // times that a job was lost that held GPUs on loan

	// Flexible is the share of Reclaimed on which no job was that had to be preempted: what
	// "the flexible server group alone satisfies". Source: Lyra §7.2.
	Flexible float64 `json:"flexible_share"`
	// OfRunning is Preempted over the jobs that held GPUs before; OfBorrowing, over those
	// of them that held GPUs on loan. Source: Lyra §7.3, "the percentage of preempted jobs
	// among running jobs"; Lyra Fig. 10.
	OfRunning   float64 `json:"preempted_of_running"`
	OfBorrowing float64 `json:"preempted_of_borrowing"`
	// Damage is the collateral damage: GPUs on nodes that stay which preempted jobs left,
	// over the GPUs of Reclaimed. Source: Lyra §7.3, "the fraction of GPUs vacated in
	// excess of the reclaiming demand".
	Damage float64 `json:"collateral_damage"`

	// Priced are the rounds with jobs and nodes on loan whose plans have prices
	// (policy.Plan.Prices). Of policies that borrow, these are the seconds of running time that
	// one more GPU would save elastic jobs: 0 while GPUs are idle, and also where base demands
	// leave none to share out. What jobs that wait would gain is not in them.
	Priced int `json:"priced_rounds"`
	// TrainingPrice is the mean over Priced of the price of a GPU that is not on loan, and
	// LoanPrice of one that is; of several types, the mean over their GPUs. A GPU on loan counts
	// as it is, also if several do the work of one.
	TrainingPrice float64 `json:"training_price_s"`
	LoanPrice     float64 `json:"loan_price_s"`
	// ServerPrice is what a node on loan is worth: the mean over Priced of the price of a GPU
	// on loan times the GPUs of a node, in seconds.
	ServerPrice float64 `json:"server_price_s"`
	// ReturnCost is what it costs to give a node back: useful GPU-hours that jobs without
	// checkpoints lose that are in Preempted, over Reclaimed.
	ReturnCost float64 `json:"return_cost_gpu_hours"`
}

// A Rent is what rented nodes cost, over the time of Utilisation. GPU-hours of nodes
// count from their order until they are given or taken back ("effective usage"), also
// while they are broken; those until the provider has taken a node back, which no
// policy decides, are kept apart. Money is that of cluster.Offer.GPUPrice: GPU-hours
// where no price is known. Sources: BOA §6.2, "Measurement"; BOA App. D.
type Rent struct {
	Hours    float64 `json:"gpu_hours"`          // effective
	Starting float64 `json:"starting_gpu_hours"` // of Hours, before the node was there
	Idle     float64 `json:"idle_gpu_hours"`     // of Hours, there and held by no job: whole nodes are rented
	Leaving  float64 `json:"leaving_gpu_hours"`  // not of Hours

	Money        float64 `json:"money"` // of Hours
	LeavingMoney float64 `json:"leaving_money"`

	MeanGPUs float64 `json:"gpus_mean"` // Hours per hour
	MostGPUs int     `json:"gpus_max"`
	// WorstWeek is the most money, Money and LeavingMoney, of any 7 days of the run, per
	// hour; 0 if the run is shorter.
	WorstWeek float64 `json:"worst_week_per_hour"`
}

// A TypeSummary is the run on the GPUs of one type.
type TypeSummary struct {
	Type        cluster.GPUType `json:"type"`
	GPUs        int             `json:"gpus"`      // at the end
	MaxGPUs     int             `json:"gpus_max"`  // at any time
	Hours       float64         `json:"gpu_hours"` // allocated
	Utilisation float64         `json:"utilisation"`
}

// A RhoSummary is finish-time fairness over the jobs that are done and of which
// it is known. Sources: Sia §3.5.5; Shockwave §8.2.
type RhoSummary struct {
	Static      bool    `json:"static"` // by Options.Fair, not by Options.Isolated
	Mean        float64 `json:"mean"`
	Worst       float64 `json:"worst"`
	UnfairAbove float64 `json:"unfair_above"` // threshold of Unfair
	Unfair      float64 `json:"unfair_fraction"`
}
