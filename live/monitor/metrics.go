package monitor

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
)

// errPanic is the error of a stage that panicked.
var errPanic = errors.New("it panicked")

// Options configure Metrics.
type Options struct {
	Version string // of the program
	Jobs    bool   // a series for each job too
}

// Metrics are the metrics of a process, on one registry.
type Metrics struct {
	o       Options
	vectors []vector // all that have the label queue

	rounds, refused, fallbacks, iterations, interrupted *prometheus.CounterVec
	restarts, fenced, spent                             *prometheus.CounterVec
	failures, decisions, ended, gpuSeconds              *prometheus.CounterVec
	used, paid, rent                                    *prometheus.CounterVec

	interval, last, fallback, gap, goodput, forecast, limit *prometheus.GaugeVec
	explained, leader, clock, price, leftOut                *prometheus.GaugeVec
	jobs, gpus, fairness, jobGPUs, jobGoodput               *prometheus.GaugeVec

	duration, stages, wrong *prometheus.HistogramVec
}

// A vector is metrics of one name, by labels.
type vector interface {
	prometheus.Collector
	DeletePartialMatch(prometheus.Labels) int
}

// Buckets of histograms. Rounds are from a millisecond, on one machine, to minutes, which is
// what a round is at the most; a prediction is good at 5 % and useless at 100 %.
var (
	secondsBuckets = []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300}
	errorBuckets   = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2}
)

// New returns Metrics that are registered at r. It returns an error if r has metrics of the
// same names.
func New(r prometheus.Registerer, o Options) (*Metrics, error) {
	m := &Metrics{o: o}
	m.makeRounds()
	m.makeJobs()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "oxgang_build_info", Help: "Always 1; its labels say which program this is.",
		ConstLabels: prometheus.Labels{"version": o.Version, "go_version": runtime.Version()},
	})
	build.Set(1)
	all := []prometheus.Collector{build}
	for _, v := range m.vectors {
		all = append(all, v)
	}
	for i, c := range all {
		if err := r.Register(c); err != nil {
			for _, c := range all[:i] {
				r.Unregister(c)
			}
			return nil, fmt.Errorf("monitor: %w", err)
		}
	}
	return m, nil
}

// makeRounds makes the metrics of rounds and of who plans.
func (m *Metrics) makeRounds() {
	m.rounds = m.counter("oxgang_rounds_total", "Rounds that came to their end.")
	m.duration = m.histogram("oxgang_round_duration_seconds", "Time of a round, from its snapshot until the backend has the plan.", secondsBuckets)
	m.stages = m.histogram("oxgang_round_stage_duration_seconds", "Time of the stages of a round, by how they ended.", secondsBuckets, "stage", "outcome")
	m.interval = m.gauge("oxgang_round_interval_seconds", "Time from one round to the next, as it is set.")
	m.last = m.gauge("oxgang_round_last_timestamp_seconds", "When the last round ended, since the epoch.")
	m.clock = m.gauge("oxgang_clock_moved_seconds", "How far the machine's clock has been set forward, or back if negative, while the scheduler ran.")
	m.refused = m.counter("oxgang_plans_refused_total", "Rounds whose plan was refused or missing: everything stayed as it was.")
	m.failures = m.counter("oxgang_policy_failures_total", "Failures of the policy that its fallback caught, by cause.", "cause")
	m.fallbacks = m.counter("oxgang_fallback_rounds_total", "Rounds that the fallback policy planned.")
	m.fallback = m.gauge("oxgang_fallback_active", "1 if the fallback policy planned the last round, else 0.")
	m.iterations = m.counter("oxgang_solver_iterations_total", "Iterations of the policy's solver.")
	m.gap = m.gauge("oxgang_solver_gap_ratio", "How far the last plan may be from the best, relatively.")
	m.interrupted = m.counter("oxgang_solver_interrupted_total", "Plans that are the best found until the policy's time was over.")
	m.explained = m.gauge("oxgang_explain_cache_timestamp_seconds", "Of when the last prediction is that explanations are given from, since the epoch.")
	m.leader = m.gauge("oxgang_leader", "1 if this process plans for the queue, else 0.")
	m.fenced = m.counter("oxgang_writes_fenced_total", "Writes of this process that were refused because a newer leader plans.")
}

// makeJobs makes the metrics of jobs, GPUs and money.
func (m *Metrics) makeJobs() {
	m.decisions = m.counter("oxgang_decisions_total", "What rounds did with jobs, one per job and round.", "action")
	m.restarts = m.counter("oxgang_restarts_total", "Starts of jobs that had run before.")
	m.jobs = m.gauge("oxgang_jobs", "Jobs that have not ended, by phase.", "phase")
	m.leftOut = m.gauge("oxgang_jobs_left_out", "Jobs that name the queue and are not planned, or not in the Plan, because there are too many.")
	m.ended = m.counter("oxgang_jobs_ended_total", "Exits of jobs, by outcome; jobs that were lost go on.", "outcome")
	m.gpus = m.gauge("oxgang_gpus", "GPUs by what they do now.", "gpu_type", "state")
	m.gpuSeconds = m.counter("oxgang_gpu_seconds_total", "GPU time by what the GPUs did.", "gpu_type", "state")
	m.goodput = m.gauge("oxgang_goodput_ratio", "GPUs that train, each counted at the statistical efficiency of its job, over all GPUs.")
	m.wrong = m.histogram("oxgang_throughput_error_ratio", "Difference of predicted and measured throughput, over the measured.", errorBuckets, "gpu_type")
	m.fairness = m.gauge("oxgang_fairness_ratio", "Finish-time fairness (rho) that jobs are heading for; above 1 is worse than a fair share.", "of")
	m.spent = m.counter("oxgang_budget_spent_total", "Paid for rented nodes, in the currency of their prices.")
	m.forecast = m.gauge("oxgang_budget_forecast", "What the next hour of rented nodes will cost if the last plan stays.")
	m.limit = m.gauge("oxgang_budget_limit", "What an hour of rented nodes may cost on average.")
	m.makeLedger()
	if m.o.Jobs {
		m.jobGPUs = m.gauge("oxgang_job_gpus", "GPUs that a job holds.", "job")
		m.jobGoodput = m.gauge("oxgang_job_goodput", "Samples per second of a job as believed, at the efficiency of its first batch size.", "job")
	}
}

// makeLedger makes the metrics of who used what, and paid for it.
func (m *Metrics) makeLedger() {
	of := []string{"user", "class", "gpu_type", "tenure", "use"}
	m.used = m.counter("oxgang_used_gpu_seconds_total", "GPU time that jobs had, by whose they are.", of...)
	m.paid = m.counter("oxgang_paid_total", "Paid by jobs at the prices of the rounds, in the unit of the policy's objective.", of...)
	m.rent = m.counter("oxgang_rent_total", "Rent of nodes while jobs had them, in the currency of their prices.", of...)
	m.price = m.gauge("oxgang_gpu_price", "Price of a GPU in the last round, where the plan has prices, in the unit of the policy's objective.", "gpu_type")
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, append([]string{"queue"}, labels...))
	m.vectors = append(m.vectors, v)
	return v
}

func (m *Metrics) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, append([]string{"queue"}, labels...))
	m.vectors = append(m.vectors, v)
	return v
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, append([]string{"queue"}, labels...))
	m.vectors = append(m.vectors, v)
	return v
}

// LeftOut sets how many jobs of a queue are left out of its plans. Any goroutine may call it.
func (m *Metrics) LeftOut(queue string, jobs int) {
	m.leftOut.WithLabelValues(queue).Set(float64(jobs))
}

// Forget removes all series of a queue that is gone.
func (m *Metrics) Forget(queue string) {
	for _, v := range m.vectors {
		v.DeletePartialMatch(prometheus.Labels{"queue": queue})
	}
}
