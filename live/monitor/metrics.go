package monitor

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
)

var errPanic = errors.New("it panicked")

// Options configure Metrics.
type Options struct {
	Version string // of the program
}

// A Metrics has the Prometheus metrics of a process, on one registry.
type Metrics struct {
	vectors []vector // with the label queue

	rounds, refused, fallbacks, iterations, interrupted *prometheus.CounterVec
	restarts, fenced, spent                             *prometheus.CounterVec
	failures, decisions, ended, gpuSeconds              *prometheus.CounterVec
	used, paid, rent                                    *prometheus.CounterVec

	interval, last, fallback, gap, goodput, forecast, limit *prometheus.GaugeVec
	explained, leader, clock, price, leftOut                *prometheus.GaugeVec
	jobs, gpus, fairness                                    *prometheus.GaugeVec

	duration, stages, wrong *prometheus.HistogramVec
}

type vector interface {
	prometheus.Collector
	DeletePartialMatch(prometheus.Labels) int
}

var (
	secondsBuckets = []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300}
	errorBuckets   = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2}
)

// New registers Metrics at r.
func New(r prometheus.Registerer, o Options) (*Metrics, error) {
	m := new(Metrics)
	m.makeRounds()
	m.makeJobs()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "oxgang_build_info", Help: "Always 1; the labels have the version of the program.",
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

func (m *Metrics) makeRounds() {
	m.rounds = m.counter("oxgang_rounds_total", "Completed rounds.")
	m.duration = m.histogram("oxgang_round_duration_seconds", "Time of a round, from snapshot to applied plan.", secondsBuckets)
	m.stages = m.histogram("oxgang_round_stage_duration_seconds", "Time of each stage of a round, by outcome.", secondsBuckets, "stage", "outcome")
	m.interval = m.gauge("oxgang_round_interval_seconds", "Configured time between rounds.")
	m.last = m.gauge("oxgang_round_last_timestamp_seconds", "Unix time at which the last round ended.")
	m.clock = m.gauge("oxgang_clock_moved_seconds", "How far the machine's clock was set forward (negative: back) while the scheduler ran.")
	m.refused = m.counter("oxgang_plans_refused_total", "Rounds whose plan was refused or missing, so that nothing changed.")
	m.failures = m.counter("oxgang_policy_failures_total", "Failures of the policy, by cause. The fallback policy takes over.", "cause")
	m.fallbacks = m.counter("oxgang_fallback_rounds_total", "Rounds that the fallback policy planned.")
	m.fallback = m.gauge("oxgang_fallback_active", "1 if the fallback policy planned the last round, else 0.")
	m.iterations = m.counter("oxgang_solver_iterations_total", "Iterations of the policy's solver.")
	m.gap = m.gauge("oxgang_solver_gap_ratio", "Bound on the relative distance of the last plan from the optimum.")
	m.interrupted = m.counter("oxgang_solver_interrupted_total", "Plans that the policy returned at its time limit, before it finished.")
	m.explained = m.gauge("oxgang_explain_cache_timestamp_seconds", "Unix time of the prediction that explanations use.")
	m.leader = m.gauge("oxgang_leader", "1 if this process plans for the queue, else 0.")
	m.fenced = m.counter("oxgang_writes_fenced_total", "Writes of this process that were refused because there is a newer leader.")
}

func (m *Metrics) makeJobs() {
	m.decisions = m.counter("oxgang_decisions_total", "Actions of rounds, one per job and round.", "action")
	m.restarts = m.counter("oxgang_restarts_total", "Restarts of jobs.")
	m.jobs = m.gauge("oxgang_jobs", "Jobs that have not ended, by phase.", "phase")
	m.leftOut = m.gauge("oxgang_jobs_left_out", "Jobs of the queue that are left out of planning, or of the Plan, because there are too many.")
	m.ended = m.counter("oxgang_jobs_ended_total", "Exits of jobs, by outcome. Lost jobs restart.", "outcome")
	m.gpus = m.gauge("oxgang_gpus", "GPUs by state.", "gpu_type", "state")
	m.gpuSeconds = m.counter("oxgang_gpu_seconds_total", "GPU time by state.", "gpu_type", "state")
	m.goodput = m.gauge("oxgang_goodput_ratio", "Training GPUs, weighted by the statistical efficiency of their jobs, divided by all GPUs.")
	m.wrong = m.histogram("oxgang_throughput_error_ratio", "Relative error of predicted throughput.", errorBuckets, "gpu_type")
	m.fairness = m.gauge("oxgang_fairness_ratio", "Predicted finish-time fairness (rho) of jobs. Above 1 is worse than a fair share.", "of")
	m.spent = m.counter("oxgang_budget_spent_total", "Cost of rented nodes, in the currency of their prices.")
	m.forecast = m.gauge("oxgang_budget_forecast", "Cost of the next hour of rented nodes under the last plan.")
	m.limit = m.gauge("oxgang_budget_limit", "Limit on the average cost of rented nodes per hour.")
	m.makeLedger()
}

func (m *Metrics) makeLedger() {
	of := []string{"user", "class", "gpu_type", "tenure", "use"}
	m.used = m.counter("oxgang_used_gpu_seconds_total", "GPU time of jobs, by user and class.", of...)
	m.paid = m.counter("oxgang_paid_total", "Cost of jobs at the prices of the rounds, in the unit of the policy's objective.", of...)
	m.rent = m.counter("oxgang_rent_total", "Rent of nodes while jobs held them, in the currency of their prices.", of...)
	m.price = m.gauge("oxgang_gpu_price", "Price of a GPU in the last round, in the unit of the policy's objective.", "gpu_type")
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

// LeftOut sets how many jobs the plans of a queue omit. It is safe for concurrent use.
func (m *Metrics) LeftOut(queue string, jobs int) {
	m.leftOut.WithLabelValues(queue).Set(float64(jobs))
}

// Forget removes all metrics of a queue.
func (m *Metrics) Forget(queue string) {
	for _, v := range m.vectors {
		v.DeletePartialMatch(prometheus.Labels{"queue": queue})
	}
}

// NewLogger returns a logger with format text or json, and a level from debug to error.
func NewLogger(w io.Writer, format, level string) (*slog.Logger, error) {
	o := new(slog.HandlerOptions)
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q, want debug, info, warn or error", level)
	}
	o.Level = least
	switch strings.ToLower(format) {
	case "text":
		return slog.New(slog.NewTextHandler(w, o)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, o)), nil
	}
	return nil, fmt.Errorf("log format %q, want text or json", format)
}

// Logr returns a logger for libraries that use logr. Messages of V(1) and above are dropped.
func Logr(l *slog.Logger) logr.Logger { return logr.FromSlogHandler(l.Handler()) }

// Log returns a listener for a Watch. It logs each round at level debug, and refused plans as warnings.
func Log(l *slog.Logger, queue string) func(*Timing) {
	return func(r *Timing) {
		attrs := []any{slog.String("queue", queue), slog.Int("round", r.Seq), slog.Duration("took", r.Ended.Sub(r.Begun))}
		if r.Refused != "" {
			l.Warn("plan refused", append(attrs, slog.String("why", r.Refused))...)
			return
		}
		l.Debug("round", attrs...)
	}
}
